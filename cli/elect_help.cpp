#include "elect_help.hpp"

namespace latchkey::cli {

std::string elect_help() {
    return R"(Usage: latchkey elect [OPTION]... PATH [--] CMD [ARG]...
       latchkey elect [OPTION]... PATH -c STRING
       latchkey elect [OPTION]... PATH
       latchkey elect -l [OPTION]... PATH

Takes part in the election of a leader on PATH of a ZooKeeper ensemble, the same
as that of Apache Curator's LeaderLatch, and runs CMD while it leads, no longer;
-c runs STRING with $SHELL (else /bin/sh). When CMD has ended, or the leadership
was lost, it is a candidate again, at the tail of the queue; a CMD that ends
soon is run again after a pause, which grows from a quarter of a second to half
a minute. Without a command it prints "PATH NODE TOKEN" when it leads, and leads
until INT, TERM, HUP, QUIT, USR1 or USR2; then its exit status is 0.

      --id ID                what it calls itself (the host's name, ":" and the
                             process id); at most 512 bytes
      --data S               what it publishes while it leads, for -l and other
                             followers: an address, a state
      --priority N           hand over to a candidate of higher priority that has
                             been there for ten seconds, when it takes part in
                             that too; at most 1000000 either way (0)
      --once                 no second time: it exits when CMD has ended, or the
                             leadership was lost
  -l, --listen               take no part, and tell who leads, a line each on
                             stdout, at first and whenever that changes:
                             "leader ID TOKEN NODE DATA", or "no leader". TOKEN
                             is "-" if none is published, as by Curator's. Until
                             INT, TERM, ...; then its exit status is 0

  -z, --servers HOSTS        host:port,host:port,...[/chroot]
                             (else $LATCHKEY_SERVERS, else $ZK_HOSTS)
  -t, --session-timeout SEC  a dead leader is replaced after about SEC (10)
      --grace SEC            how long CMD may take to end when the leadership is
                             about to be lost: TERM so long before the deadline,
                             KILL shortly before it. At most a quarter of the
                             session timeout; without it a twentieth, at most 2
      --auth-file FILE       "digest USER:PASSWORD", a line each; FILE must be
                             closed to others (else $LATCHKEY_AUTH, such a line)
      --pass-auth            leave LATCHKEY_AUTH in the environment of CMD; else
                             it is removed
      --verbose              tell on stderr what happens
      --json                 what is on stdout and diagnostics as JSON objects
  -h, --help                 this text
  -V, --version              the version

CMD gets LATCHKEY_PATH, LATCHKEY_NODE (its znode) and LATCHKEY_TOKEN (the
fencing token, a decimal that grows from leader to leader) in its environment,
stdin, and a process group of its own. INT, TERM, HUP, QUIT, USR1 and USR2 are
passed on to that group. After INT, TERM and QUIT, and after a signal that ended
CMD, latchkey ends with it; while it waits to lead each of them ends it.

When somebody is to take over (latchkey resign, a candidate of higher priority),
CMD gets TERM, and takes the time that it needs; when it has ended the other one
leads, without waiting for any timeout.

If the leadership is lost, CMD and everything it started is killed before
anybody else can be elected, also when latchkey itself is stopped or killed.
What CMD leaves running in the background when it ends by itself goes on,
without the leadership.

Exit status: CMD's own, with --once or after a signal; 128+N if signal N ended
it, or the wait; and
   64  wrong use                           76  the leadership was lost (--once)
   65  nobody can be elected on PATH       77  not authorized
   71  the system refused                 126  CMD cannot be executed
   74  cannot write to stdout             127  CMD not found
)";
}

}  // namespace latchkey::cli
