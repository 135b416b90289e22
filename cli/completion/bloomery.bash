# Made by bloomery --completion bash: change cli/, not this.
_bloomery()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local words='' options='' kind=file before=''
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'dedup create build add check remove calc info verify merge intersect compare convert diff patch follow bip37 bench schemes web help --help --version' -- "$cur"))
        return
    fi
    if [ "$cur" = = ]; then
        cur=''
    elif [ "$prev" = = ]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    elif [[ $cur == --*=* ]]; then
        prev=${cur%%=*} before=${cur%%=*}= cur=${cur#*=}
    fi
    case ${COMP_WORDS[1]} in
    dedup)
        options=' -n --items -p --rate --memory --state --window -D --stats --json -0 --crlf -e -f -d --funnel --threads --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --wait --quiet -h --help'
        case $prev in
            -n|--items) kind=none ;;
            -p|--rate) kind=none ;;
            --memory) kind=none ;;
            --state) kind=file ;;
            --window) kind=none ;;
            -e) words="text hex int32 int64 float double base64" ;;
            -f) kind=none ;;
            -d) kind=none ;;
            --funnel) kind=none ;;
            --threads) kind=none ;;
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
            --wait) kind=none ;;
        esac ;;
    create)
        options=' -n --items -p --rate -m --bits -k --probes --memory --kind --like --like-from --scheme --hash --seed --variant --lines --growth --last --for --slack --from --public --force --working-memory --spill -0 --crlf -e -f -d --funnel --threads --wait --quiet -h --help'
        case $prev in
            -n|--items) kind=none ;;
            -p|--rate) kind=none ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --memory) kind=none ;;
            --kind) words="classic blocked counting scalable window cuckoo" ;;
            --like) kind=file ;;
            --like-from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --scheme) words="$(bloomery --names made-schemes 2>/dev/null)" ;;
            --hash) words="xxh3 siphash" ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --lines) kind=none ;;
            --growth) kind=none ;;
            --last) kind=none ;;
            --for) kind=none ;;
            --slack) kind=none ;;
            --from) kind=file ;;
            --working-memory) kind=none ;;
            --spill) kind=file ;;
            -e) words="text hex int32 int64 float double base64" ;;
            -f) kind=none ;;
            -d) kind=none ;;
            --funnel) kind=none ;;
            --threads) kind=none ;;
            --wait) kind=none ;;
        esac ;;
    build)
        options=' --include --exclude -p --rate --kind --hash --seed --force --memory --working-memory --spill -0 --crlf -e -f -d --funnel --threads --quiet -h --help'
        case $prev in
            --include) kind=file ;;
            --exclude) kind=file ;;
            -p|--rate) kind=none ;;
            --kind) words="static cascade classic blocked" ;;
            --hash) words="xxh3 siphash" ;;
            --seed) kind=none ;;
            --memory) kind=none ;;
            --working-memory) kind=none ;;
            --spill) kind=file ;;
            -e) words="text hex int32 int64 float double base64" ;;
            -f) kind=none ;;
            -d) kind=none ;;
            --funnel) kind=none ;;
            --threads) kind=none ;;
        esac ;;
    add)
        options=' -0 --crlf -e -f -d --funnel --threads --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --wait --quiet -h --help'
        case $prev in
            -e) words="text hex int32 int64 float double base64" ;;
            -f) kind=none ;;
            -d) kind=none ;;
            --funnel) kind=none ;;
            --threads) kind=none ;;
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
            --wait) kind=none ;;
        esac ;;
    check)
        options=' -v --invert --except -c --count -q --silent -n --line-number --groups --json --line-buffered -0 --crlf -e -f -d --funnel --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --threads --quiet -h --help'
        case $prev in
            --except) kind=file ;;
            -e) words="text hex int32 int64 float double base64" ;;
            -f) kind=none ;;
            -d) kind=none ;;
            --funnel) kind=none ;;
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
            --threads) kind=none ;;
        esac ;;
    remove)
        options=' -0 --crlf -e -f -d --funnel --threads --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --wait --quiet -h --help'
        case $prev in
            -e) words="text hex int32 int64 float double base64" ;;
            -f) kind=none ;;
            -d) kind=none ;;
            --funnel) kind=none ;;
            --threads) kind=none ;;
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
            --wait) kind=none ;;
        esac ;;
    calc)
        options=' -n --items -p --rate -m --bits -k --probes --memory --kind --plot --json --quiet -h --help'
        case $prev in
            -n|--items) kind=none ;;
            -p|--rate) kind=none ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --memory) kind=none ;;
            --kind) words="classic blocked counting scalable window cuckoo static" ;;
        esac ;;
    info)
        options=' --json --plot --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --quiet -h --help'
        case $prev in
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
        esac ;;
    verify)
        options=' --members --absent --trials -p --rate --json -0 --crlf -e -f -d --funnel --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --quiet -h --help'
        case $prev in
            --members) kind=file ;;
            --absent) kind=file ;;
            --trials) kind=none ;;
            -p|--rate) kind=none ;;
            -e) words="text hex int32 int64 float double base64" ;;
            -f) kind=none ;;
            -d) kind=none ;;
            --funnel) kind=none ;;
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
        esac ;;
    merge)
        options=' --force --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --wait --quiet -h --help'
        case $prev in
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
            --wait) kind=none ;;
        esac ;;
    intersect)
        options=' --force --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --quiet -h --help'
        case $prev in
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
        esac ;;
    compare)
        options=' --json --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --quiet -h --help'
        case $prev in
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
        esac ;;
    convert)
        options=' --to --kind --plain --scheme --members -n --items -p --rate --force --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group -0 --crlf -e -f -d --funnel --quiet -h --help'
        case $prev in
            --to) words="$(bloomery --names formats 2>/dev/null)" ;;
            --kind) words="classic blocked counting scalable window cuckoo" ;;
            --scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            --members) kind=file ;;
            -n|--items) kind=none ;;
            -p|--rate) kind=none ;;
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
            -e) words="text hex int32 int64 float double base64" ;;
            -f) kind=none ;;
            -d) kind=none ;;
            --funnel) kind=none ;;
        esac ;;
    diff)
        options=' --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --quiet -h --help'
        case $prev in
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
        esac ;;
    patch)
        options=' --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --quiet -h --help'
        case $prev in
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
        esac ;;
    follow)
        options=' --every --stale --once --force --quiet -h --help'
        case $prev in
            --every) kind=none ;;
            --stale) kind=none ;;
        esac ;;
    bip37)
        options=' --txid --update --from --from-scheme -m --bits -k --probes --seed --variant --offset --column --row-group --quiet -h --help'
        case $prev in
            --from) words="$(bloomery --names formats 2>/dev/null)" ;;
            --from-scheme) words="$(bloomery --names schemes 2>/dev/null)" ;;
            -m|--bits) kind=none ;;
            -k|--probes) kind=none ;;
            --seed) kind=none ;;
            --variant) kind=none ;;
            --offset) kind=none ;;
            --column) kind=none ;;
            --row-group) kind=none ;;
        esac ;;
    bench)
        options=' --quick --json --quiet -h --help'
        case $prev in
        esac ;;
    schemes)
        options=' --json --quiet -h --help'
        case $prev in
        esac ;;
    web)
        options=' --port --dir --path --quiet -h --help'
        case $prev in
            --port) kind=none ;;
            --dir) kind=file ;;
        esac ;;
    help)
        words='dedup create build add check remove calc info verify merge intersect compare convert diff patch follow bip37 bench schemes web' ;;
    esac
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -P "$before" -W "$words" -- "$cur"))
        [ -n "${COMPREPLY[*]}" ] || compopt +o default 2>/dev/null
    elif [ $kind = none ]; then
        compopt +o default 2>/dev/null
    elif [ "${cur#-}" != "$cur" ]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    fi
}
complete -o default -F _bloomery bloomery
