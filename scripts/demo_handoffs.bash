# shellcheck shell=bash
# Part of scripts/demo: how long a lock is free between two holders, after a release and after a crash.
# Uses its words: headline, problem, now; $latchkey, $state, pid_of, session_timeout.
# shellcheck disable=SC2034,SC2154

readonly turns=20
# shellcheck disable=SC2016
readonly hold='echo >"$1.held"; sleep 60' tell_time='echo "${EPOCHREALTIME/./}" >"$1"'

# A turn: when it began and ended. What it does takes longer than the next one needs to be in the queue.
# shellcheck disable=SC2016
readonly take_turn='begin=${EPOCHREALTIME/./}; sleep 0.05; echo "$begin ${EPOCHREALTIME/./}" >>"$1"'

# The median of the numbers of the input, from microseconds to milliseconds.
median_of() { sort -n | awk '{ all[NR] = $1 } END { printf "%.1f ms", all[int((NR + 1) / 2)] / 1000 }'; }

# Programs that all wait at once, and take one turn each: sets `lasted` to how long the lock is free between
# them. "$@": options.
time_of_hand_offs() {
    local i pid file=$state/turns
    : >"$file"
    for ((i = 0; i < turns; i++)); do
        "$latchkey" lock -q "$@" /demo/turns -- bash -c "$take_turn" bash "$file" &
        pid_of[turn.$i]=$!
    done
    for ((i = 0; i < turns; i++)); do
        pid=${pid_of[turn.$i]}
        wait "$pid" || problem "a turn fails"
        unset "pid_of[turn.$i]"
    done
    lasted=$(sort -n "$file" | awk 'NR > 1 { print $1 - before } { before = $2 }' | median_of)
}

# A process, and all that it has started and not let go.
with_children() {
    local child children
    echo "$1"
    read -rd "" -a children < <(cat "/proc/$1/task/"*/children 2>/dev/null)
    for child in "${children[@]}"; do with_children "$child"; done
}

# The processes of guardians: each has a session of its own, and init for a parent.
guardians() {
    local file
    for file in /proc/[0-9]*/comm; do
        [[ $(<"$file") != latchkey-guardi* ]] || basename "${file%/comm}"
    done 2>/dev/null | sort
}

# Kills a holder with its command, and with "all" its guardian too: sets `lasted` to how long the next one waits.
time_of_crash() {
    local holder killed others file=$state/crash.$1 kill=()
    others=$(guardians)
    "$latchkey" lock -q -t "$session_timeout" /demo/crash -- bash -c "$hold" bash "$file" &
    holder=$! pid_of[holder]=$!
    while [[ ! -e $file.held ]]; do sleep 0.02; done
    mapfile -t kill < <(with_children "$holder")
    [[ $1 != all ]] || mapfile -t -O "${#kill[@]}" kill < <(comm -13 <(echo "$others") <(guardians))
    "$latchkey" lock -q -t "$session_timeout" /demo/crash -- bash -c "$tell_time" bash "$file" &
    pid_of[next]=$!
    sleep 0.5 # it waits by then; if not, it is told later
    killed=$(now)
    kill -KILL "${kill[@]}" 2>/dev/null # some end as soon as the first one is dead
    wait "$holder" 2>/dev/null
    wait "${pid_of[next]}" || problem "nobody holds the lock after a crash"
    unset "pid_of[holder]" "pid_of[next]"
    lasted=$(median_of <<<"$(($(<"$file") - killed))")
}

handoffs_round() {
    local lasted
    headline "How long a lock is free between two holders"
    time_of_hand_offs
    echo "after a release:                          $lasted, median of $turns turns"
    time_of_hand_offs --direct 127.0.0.1:0
    echo "the same, told by a datagram (--direct):  $lasted"
    time_of_crash some
    echo "after kill -9 of a program:               $lasted, because its guardian ends the session"
    time_of_crash all
    echo "the same, the guardian killed too:        $lasted, of a session timeout of $session_timeout s"
}
