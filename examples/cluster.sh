#!/bin/sh
# SPDX-License-Identifier: MIT
# One filter over a cluster, in a minute: three masters with a replica each, on free ports of this
# machine; keys are added, a master is killed, and nothing is lost. Takes all down again by their pids.
#
#     examples/cluster.sh PROGRAM MODULE          (make run-cluster)
set -eu
bloomery=$1 module=$(realpath "$2")
dir=$(mktemp -d) pids='' first=$((20000 + $$ % 8000)) ports='' nodes=''
trap 'kill $pids 2>/dev/null || :; wait 2>/dev/null || :; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

port=$first
while [ "$(printf '%s' "$ports" | wc -w)" -lt 6 ]; do
    port=$((port + 1))
    redis-cli -p "$port" ping >/dev/null 2>&1 && continue # somebody else's
    mkdir "$dir/$port"
    redis-server --port "$port" --bind 127.0.0.1 --dir "$dir/$port" --save '' --loadmodule "$module" \
        --cluster-enabled yes --cluster-node-timeout 2000 --logfile "$dir/$port/log" --daemonize no &
    pids="$pids $!" ports="$ports $port" nodes="$nodes 127.0.0.1:$port"
    [ -n "${victim:-}" ] || victim=$!
done
for p in $ports; do
    tries=0
    until redis-cli -p "$p" ping >/dev/null 2>&1; do
        sleep 0.1
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { tail -3 "$dir/$p/log"; exit 1; } # perhaps its port is somebody else's
    done
done
printf 'Six servers:%s\n' "$nodes"
redis-cli --cluster create $nodes --cluster-replicas 1 --cluster-yes >"$dir/created"
set -- $ports
ref="redis+cluster://127.0.0.1:$2,127.0.0.1:$3/visited"
until redis-cli -p "$2" cluster info | grep -q state:ok; do sleep 0.1; done
sleep 2 # the replicas connect

show()
{
    printf '\n$ %s\n' "$*" | sed "s|$bloomery|bloomery|g; s|$dir/||g"
    sh -c "$*"
}
seq -f 'https://example.com/%.0f' 100000 >"$dir/urls"
show "$bloomery create '$ref?shards=12' -n 200e3 -p 0.001"
show "$bloomery add --wait 1 $ref $dir/urls"
show "$bloomery info $ref"
show "$bloomery check -c near+$ref $dir/urls"
show "$bloomery follow --once $ref $dir/copy"
show "$bloomery check -c $dir/copy $dir/urls"
printf '\nThe first master is killed. Its replica takes over while we ask:\n'
kill -9 "$victim"
show "$bloomery check -c $ref $dir/urls"
seq -f 'https://example.com/%.0f' 100001 150000 >"$dir/more"
show "$bloomery add $ref $dir/more"
show "cat $dir/urls $dir/more | $bloomery check -c $ref"
