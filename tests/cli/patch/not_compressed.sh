bloomery create a.blm -n 100 --kind classic --seed 7 --quiet
bloomery patch a.blm <"$(dirname "$0")"/plain.delta
printf 'tuesday\nwednesday\nthursday\n' | bloomery check a.blm
printf '\377' | cat "$(dirname "$0")"/plain.delta - | bloomery patch a.blm
bloomery create b.blm --like a.blm --quiet
head -c 150 "$(dirname "$0")"/plain.delta | bloomery patch b.blm
