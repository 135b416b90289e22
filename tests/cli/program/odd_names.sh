# needs: HIREDIS
# Control characters in names and arguments are shown, not sent to the terminal.
esc=$(printf '\033')
odd=$(printf 'a\tb\nc\r%s[31m\177' "$esc")
bloomery info "$odd"
bloomery create "$odd" -n 100 --seed 1
bloomery info "$odd" | head -n 1
bloomery info "$(printf 'c1 \302\233 no UTF-8 \233 \355\240\200 \300\257 \364\220\200\200 a~\303\244\342\202\254')"
bloomery "$odd"
bloomery info --"$odd"
bloomery create x --kind "$odd"
bloomery check redis://"$odd" </dev/null
bloomery create "redis://127.0.0.1:1/$odd" -n 10
bloomery verify "$odd" --members "$odd" --trials 10 2>&1 | head -n 1
bloomery merge "$odd.2" "$odd" "$odd"
bloomery compare "$odd" "$odd" --json | head -n 4
