bloomery create a.blm -n 100 --seed 7 --quiet
bloomery patch a.blm/b.blm <"$(dirname "$0")"/plain.delta
