# Ends all programs of an Interlocking process (the runner) when the runner has ended. $1 identifies the runner in the environment
# of its programs, $2 in their limit of file locks. Standard input is a pipe whose other end only the runner holds.
trap '' HUP INT QUIT TERM
while read -r _; do :; done

stopped=
rounds=0
# How many more scans must find no process. One scan can miss a process that starts another one and ends.
looks=5
while [ "$looks" -gt 0 ] && [ "$rounds" -lt 1000 ]; do
    rounds=$((rounds + 1))
    # Processes with a mark. They are stopped at once: a process that sees its children end may start others, and a process may
    # start another one and end.
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
    # Their descendants. A process name cannot forge a line here: the kernel writes a line end in a name as two characters.
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
        # A process that looks dead can have threads that are alive.
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
