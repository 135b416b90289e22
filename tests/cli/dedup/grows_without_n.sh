# Planned from a first block of long lines, for a fifth of what comes: the filter grows. (A line is
# dropped by chance once in 1e10 runs at this rate; from a pipe, planned for millions, in 1e11.)
{ yes "$(printf '%01000d' 0)" | head -n 2000 | cat -n; seq 20000; } >n
cat n n | bloomery dedup >out
bloomery dedup -p 1e-14 n n >out2
cmp n out && cmp n out2 && echo same
