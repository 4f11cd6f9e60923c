# One real ZooKeeper server as a process: its configuration, its life, its answers. Sourced by `ensemble`, which sets
# `dir` (the ensemble's folder), `servers`, `tick`, `settings`, `links` and `*port*`, and has `say`, `die` and `here`.
# shellcheck shell=bash disable=SC2154

readonly java_folder=/usr/share/java
# The last two are for TLS; the first one names all others but these.
readonly class_path=$java_folder/zookeeper.jar:$java_folder/slf4j-simple.jar:$java_folder/netty-codec.jar:$java_folder/netty-resolver.jar
readonly main_class=org.apache.zookeeper.server.quorum.QuorumPeerMain

# One address each: the C client tells servers apart by address alone, not by port.
host() { echo "127.0.0.$1"; }

connect_string() {
    local i list=
    for ((i = 1; i <= servers; i++)); do list+=,$(host "$i"):$client_port; done
    echo "${list#,}"
}

# Where server $1 reaches server $2: "host:quorum port:election port".
peer_address() { echo "${links[$1-$2]:-$(host "$2"):$quorum_port:$election_port}"; }

# Everything that server $1 is told.
write_configuration() {
    local i folder=$dir/$1
    mkdir -p "$folder/data"
    {
        echo "tickTime=$tick"
        echo "minSessionTimeout=$((2 * tick))"
        echo "maxSessionTimeout=60000"
        echo "dataDir=$folder/data"
        echo "clientPort=$client_port"
        echo "clientPortAddress=$(host "$1")"
        echo "maxClientCnxns=0"
        echo "4lw.commands.whitelist=*"
        echo "admin.enableServer=false"
        echo "extendedTypesEnabled=true"
        echo "forceSync=no"
        if ((servers > 1)); then
            echo "initLimit=75"
            echo "syncLimit=10"
            echo "standaloneEnabled=false"
            for ((i = 1; i <= servers; i++)); do echo "server.$i=$(peer_address "$1" "$i")"; done
        fi
        ((${#settings[@]} == 0)) || printf '%s\n' "${settings[@]}"
    } >"$folder/zoo.cfg"
    echo "$1" >"$folder/data/myid"
}

# --- its process --------------------------------------------------------------------------------------------------

# The arguments of process $1, a line each. For a moment, while it becomes another program, a process has none.
arguments_of() {
    local words tries
    for ((tries = 0; tries < 100; tries++)); do
        words=$(tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline") || return 1
        [[ -z $words ]] || { echo "$words"; return; }
        grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null && return 1
        sleep 0.01
    done
    return 1
}

# The pid of server $1, if that process is still this server: numbers are used again.
pid_of() {
    local pid
    pid=$(cat "$dir/$1/pid" 2>/dev/null) && [[ -n $pid && -d /proc/$pid ]] || return 1
    arguments_of "$pid" 2>/dev/null | grep -xF -- "$dir/$1/zoo.cfg" >/dev/null && echo "$pid"
}

paused() { [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == [Tt]* ]]; }

gone() { ! pid_of "$1" >/dev/null; }

running_servers() {
    local i count=0
    for ((i = 1; i <= servers; i++)); do gone "$i" || ((count++)); done
    echo "$count"
}

# Runs "$@" apart from whoever called us: own session, nothing inherited. Leaves its pid in file $1, output in $2.
detach() {
    local pid_file=$1 log=$2
    shift 2
    (
        for fd in /proc/self/fd/*; do
            fd=${fd##*/}
            ((fd > 2 && fd < 255)) && eval "exec $fd>&-"
        done
        exec setsid "$@"
    ) </dev/null >>"$log" 2>&1 &
    echo "$!" >"$pid_file"
    # Until then it looks like this program, and not like what it is to become.
    while cmp -s "/proc/$!/cmdline" "/proc/$$/cmdline"; do sleep 0.01; done
}

launch() {
    local options=()
    # Not there, or a line for each option.
    mapfile -t options < <(grep . "$dir/java.options" 2>/dev/null)
    # A full disk leaves an empty log, with which no server starts.
    find "$dir/$1/data" -name 'log.*' -size 0 -delete
    detach "$dir/$1/pid" "$dir/$1/server.log" \
        java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xms32m -Xmx128m \
        -Dorg.slf4j.simpleLogger.showDateTime=true \
        "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS" \
        -Dzookeeper.jmx.log4j.disable=true -Dznode.container.checkIntervalMs=3600000 "${options[@]}" \
        -cp "$class_path" "$main_class" "$dir/$1/zoo.cfg"
}

# The answer of server $1 to `srvr`; nothing when there is none within five seconds: a busy machine is slow.
ask() {
    # shellcheck disable=SC2016
    timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf srvr >&3 && cat <&3' - "$(host "$1")" "$client_port" 2>/dev/null
}

mode() { ask "$1" | sed -n 's/^Mode: //p'; }

# Waits up to $1 tenths of a second for a command to succeed.
wait_for() {
    local tenths=$1
    shift
    until "$@"; do
        ((tenths-- > 0)) || return 1
        sleep 0.1
    done
}

signal() { kill "-$1" "$2" 2>/dev/null; }

# Ends server $1, first with the signal $2.
end() {
    local pid
    pid=$(pid_of "$1") || return 0
    signal "$2" "$pid"
    signal CONT "$pid"
    wait_for 50 gone "$1" && return
    signal KILL "$pid"
    wait_for 100 gone "$1" || die "server $1 (process $pid) does not end"
}

end_all() {
    local i pid
    for ((i = 1; i <= servers; i++)); do
        pid=$(pid_of "$i") && signal TERM "$pid" && signal CONT "$pid"
    done
    for ((i = 1; i <= servers; i++)); do end "$i" TERM; done
}

# --- what it needs ------------------------------------------------------------------------------------------------

need_packages() {
    local missing=() file
    command -v java >/dev/null || missing+=("java")
    for file in ${class_path//:/ }; do [[ -r $file ]] || missing+=("$file"); done
    ((${#missing[@]} == 0)) || die "missing: ${missing[*]}; run $here/install-packages"
}

# Other ports may be free.
ports_taken() {
    say "$*"
    exit 75
}

# A connection that has ended and lingers (state 06, TIME_WAIT) does not keep a server from its port.
ports_in_use() {
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r _ address _ state _; do
        [[ $address == *:* && $state != 06 ]] && echo "$((16#${address##*:}))"
    done
}

# Below the range that the kernel takes outgoing ports from.
choose_ports() {
    local taken base tries
    taken=$'\n'$(ports_in_use)$'\n'
    if [[ -n $port ]]; then
        [[ $taken != *$'\n'$port$'\n'* ]] || ports_taken "port $port is taken; choose another with --port"
    fi
    for ((tries = 0; tries < 200; tries++)); do
        base=$((12000 + (RANDOM % 6000) * 3))
        client_port=${port:-$base} quorum_port=$((base + 1)) election_port=$((base + 2))
        [[ -z $peer_ports ]] || { quorum_port=${peer_ports%:*} election_port=${peer_ports#*:}; }
        [[ $taken == *$'\n'$client_port$'\n'* || $taken == *$'\n'$quorum_port$'\n'* ||
            $taken == *$'\n'$election_port$'\n'* ]] || return 0
    done
    ports_taken "found no free ports${peer_ports:+ besides $peer_ports}"
}
