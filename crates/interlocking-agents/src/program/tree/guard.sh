# Ends what the programs of an Interlocking process left, when that process has ended. $1 names it in their environment, $2 in
# their limit of file locks. Standard input is a pipe whose other end that process alone has.
trap '' HUP INT QUIT TERM
while read -r _; do :; done

stopped=
rounds=0
# How many more looks have to find nobody: who starts another and ends can be missed by one.
looks=5
while [ "$looks" -gt 0 ] && [ "$rounds" -lt 1000 ]; do
    rounds=$((rounds + 1))
    # Those that have a mark. Stopped at once: whoever sees its children end would start others, or starts one and ends.
    members=
    for file in $(grep -lE "^Max file locks +[^ ]+ +$2 " /proc/[0-9]*/limits); do
        number=${file#/proc/}
        members="$members ${number%%/*}"
    done
    [ -z "$members" ] || kill -STOP $members
    for file in $(grep -lE "[=,]$1-[0-9]" /proc/[0-9]*/environ); do
        number=${file#/proc/}
        number=${number%%/*}
        case "$members " in *" $number "*) ;; *) [ "$number" = "$$" ] || members="$members $number" ;; esac
    done
    # And all that came of them. No name forges a line here: the kernel writes the end of a line in it as two characters.
    parents=$(grep -H '^PPid:' /proc/[0-9]*/status)
    is_growing=$members
    while [ -n "$is_growing" ]; do
        is_growing=
        for word in $parents; do
            case "$word" in
            /proc/*)
                number=${word#/proc/}
                number=${number%%/*}
                ;;
            *)
                case "$members " in
                *" $number "*) ;;
                *" $word "*) members="$members $number" is_growing=yes ;;
                esac
                ;;
            esac
        done
    done
    files=
    for number in $members; do
        files="$files /proc/$number/status"
    done
    is_alive=
    [ -z "$files" ] || is_alive=$(grep -lE '^State:.[^ZX]' $files)
    if [ -z "$is_alive" ]; then
        # Of one that looks dead, threads can live.
        [ -z "$members" ] || kill -KILL $members
        looks=$((looks - 1))
    elif [ "$members" = "$stopped" ]; then
        kill -KILL $members
        looks=20
    else
        kill -STOP $members
        stopped=$members
        looks=20
    fi
done
