for s in $(bloomery schemes | sed '/^Formats/,$d; /create --like only/d; /not in this build/d; /in programs only/d' | sed -n 's/^  \([a-z][^ ]*\) .*/\1/p'); do
    echo key | bloomery create a --force -n 100 -p 0.01 --scheme $s --from - --quiet ||
        bloomery create a --force -m 1024 --scheme $s --quiet || echo "$s cannot be made"
done
