# -e chooses the funnel: the same numbers as text are other keys.
seq 100 >numbers
bloomery create f.guava --scheme guava -n 1000 -p 1e-6 --from numbers -e int64 --quiet
bloomery check -c f.guava numbers -e int64
bloomery check -c f.guava numbers -e int64 --funnel long
bloomery check -c f.guava numbers
bloomery check -c - numbers -e int64 <f.guava
