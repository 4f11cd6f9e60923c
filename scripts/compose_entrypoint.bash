#!/usr/bin/env bash
# The entry point of the image that scripts/compose-image builds: configures a server as the official image does, by the
# same variables, and becomes it. docker-compose.yml and compose.production.yml use no others.
set -euo pipefail

readonly configuration=/conf/zoo.cfg
mkdir -p /conf /data /datalog

if [[ ! -f $configuration ]]; then
    {
        echo "dataDir=/data"
        echo "dataLogDir=/datalog"
        echo "tickTime=${ZOO_TICK_TIME:-2000}"
        echo "initLimit=${ZOO_INIT_LIMIT:-5}"
        echo "syncLimit=${ZOO_SYNC_LIMIT:-2}"
        echo "autopurge.snapRetainCount=${ZOO_AUTOPURGE_SNAPRETAINCOUNT:-3}"
        echo "autopurge.purgeInterval=${ZOO_AUTOPURGE_PURGEINTERVAL:-0}"
        echo "maxClientCnxns=${ZOO_MAX_CLIENT_CNXNS:-60}"
        echo "standaloneEnabled=${ZOO_STANDALONE_ENABLED:-true}"
        echo "admin.enableServer=${ZOO_ADMINSERVER_ENABLED:-true}"
        [[ -z ${ZOO_4LW_COMMANDS_WHITELIST:-} ]] || echo "4lw.commands.whitelist=$ZOO_4LW_COMMANDS_WHITELIST"
        # A line a word.
        # shellcheck disable=SC2086
        printf '%s\n' ${ZOO_CFG_EXTRA:-} ${ZOO_SERVERS:-server.1=localhost:2888:3888;2181}
    } >"$configuration"
fi
[[ -f /data/myid ]] || echo "${ZOO_MY_ID:-1}" >/data/myid

# shellcheck disable=SC2086
exec java -Xmx"${ZK_SERVER_HEAP:-1000}m" ${JVMFLAGS:-} -Dzookeeper.jmx.log4j.disable=true \
    -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
    org.apache.zookeeper.server.quorum.QuorumPeerMain "$configuration"
