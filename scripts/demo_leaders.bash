# shellcheck shell=bash
# Part of scripts/demo: three candidates for the leadership; the leader is killed, paused, and asked to hand over.
# Uses its words: headline, tell, problem, now, seconds; $latchkey, $state, pid_of, begin_time, session_timeout.
# shellcheck disable=SC2034,SC2154

# What a leader does: an effect every moment, "<id> <token> <time>", as long as it may.
# shellcheck disable=SC2016
readonly lead='while :; do echo "$1 $LATCHKEY_TOKEN ${EPOCHREALTIME/./}"; sleep 0.02; done >>"$2"'

start_candidate() {
    "$latchkey" elect -t "$session_timeout" --id "$1" /demo/leader -- bash -c "$lead" bash "$1" "$effects" &
    pid_of[$1]=$!
}

# The first effect of another token than $1: sets leader, token and since.
await_leader_after() {
    local i
    for ((i = 0; i < 1500; i++)); do
        read -r leader token since < <(awk -v before="$1" '$2 + 0 > before + 0 { print; exit }' "$effects") && return
        sleep 0.02
    done
    problem "nobody leads after token $1"
    return 1
}

last_effect_of() { awk -v token="$1" '$2 == token { last = $3 } END { print last }' "$effects"; }

# The leader has got somewhere.
await_effects() {
    local i
    for ((i = 0; i < 600; i++)); do
        (($(awk -v token="$token" '$2 == token { count++ } END { print count + 0 }' "$effects") < 20)) || return 0
        sleep 0.05
    done
    problem "$leader leads and does nothing"
}

# Asked again: candidates can be reached a moment after they have come, and an offer to one of them stands for a moment.
ask_to_hand_over_to() {
    local i
    for ((i = 0; i < 20; i++)); do
        "$latchkey" resign --to "$1" /demo/leader || return
        leads_within_a_second "$1" && return
    done
    return 1
}

leads_within_a_second() {
    local i
    for ((i = 0; i < 50; i++)); do
        [[ $(tail -n 1 "$effects") != "$1 "* ]] || return 0
        sleep 0.02
    done
    return 1
}

# $1 tells what was done to the leader at $2; then somebody else leads within $3 s.
tell_gap() {
    local old=$leader old_token=$token gap last
    await_leader_after "$old_token" || return
    last=$(last_effect_of "$old_token")
    gap=$(((since - last) / 1000))
    tell "$since" "${green}$leader leads${plain}, token $token; nobody did for $gap ms after $old $1"
    ((gap >= 0)) || problem "$leader led while $old did"
    ((since - $2 <= $3 * 1000000)) || problem "that took $(seconds "$((since - $2))") s"
    [[ $leader != "$old" ]] || problem "$old leads again"
}

leaders_round() {
    local id time leader='' token=0 since=0 effects=$state/effects other paused
    headline "Three candidates, one leader"
    : >"$effects"
    begin_time=$(now)
    for id in ada bob eve; do start_candidate "$id"; done
    await_leader_after 0 || return
    tell "$since" "${green}$leader leads${plain}, token $token"
    await_effects

    # In one group, so that bash's own word about it is not printed.
    time=$(now)
    tell "$time" "${red}$leader is killed with -9${plain}"
    other=$leader
    {
        kill -KILL "${pid_of[$other]}"
        wait "${pid_of[$other]}"
    } 2>/dev/null
    tell_gap "was killed" "$time" "$((session_timeout + 1))"
    start_candidate "$other"
    await_effects

    time=$(now)
    tell "$time" "${red}$leader is paused${plain}; its command is ended before anybody else can lead"
    paused=$leader
    kill -STOP "${pid_of[$paused]}"
    tell_gap "was paused" "$time" "$((session_timeout + 1))"
    kill -CONT "${pid_of[$paused]}"
    await_effects

    for id in ada bob eve; do [[ $id == "$leader" || $id == "$paused" ]] || other=$id; done
    time=$(now)
    tell "$time" "$leader is asked to hand over to $other"
    ask_to_hand_over_to "$other" || problem "nobody could be asked, or it did not hand over"
    tell_gap "handed over" "$time" "$session_timeout"
    [[ $leader == "$other" ]] || problem "$leader leads instead of $other"

    for id in ada bob eve; do kill -TERM "${pid_of[$id]}"; done
    for id in ada bob eve; do
        wait "${pid_of[$id]}"
        unset "pid_of[$id]"
    done
    awk '$2 + 0 < last { exit 1 } { last = $2 + 0 }' "$effects" ||
        problem "a leader acted after the next one had"
    ((problems > 0)) || echo "$(wc -l <"$effects") effects, each leader's before the next one's; tokens grow"
}
