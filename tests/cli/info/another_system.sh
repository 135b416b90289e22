export BLOOMERY_CPU=portable
cp "$(dirname "$0")"/../../golden/guava/m64-small10/*.bin a.guava
bloomery info a.guava
bloomery info a.guava --json | grep -e scheme -e format -e rate_promised -e capacity -e writer
