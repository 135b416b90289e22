for kind in classic blocked counting scalable; do
    bloomery create $kind.blm -n 1000 -p 0.001 --kind $kind
    echo key | bloomery add $kind.blm --quiet
    printf 'key\nother\n' | bloomery check $kind.blm
done
