# Refused before anything is read: the input stays for the next command.
seq 100000 >n
for how in '-p 1e-300' '-n 10 -p 1e-300' '--memory 1M -p 1e-300' '--state s -p 1e-300'; do
    { bloomery dedup $how; head -n 1; } <n
    cat n | { bloomery dedup $how; head -n 1; }
    bloomery dedup $how n
done
ls
