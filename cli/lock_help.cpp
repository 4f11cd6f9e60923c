#include "lock_help.hpp"

namespace latchkey::cli {

std::string version_line() {
    return "latchkey " LATCHKEY_VERSION "\n";
}

std::string program_help() {
    return R"(Usage: latchkey COMMAND [OPTION]...

Locks and leader election on Apache ZooKeeper, for commands and scripts.

Commands:
  lock        run a command while holding a lock
  elect       run a command while leading, or tell who leads
  resign      ask the leader to hand over
  dev-server  run a ZooKeeper ensemble for development, in memory

latchkey COMMAND --help tells more about a command.
  -h, --help     this text
  -V, --version  the version
)";
}

std::string lock_help() {
    return R"(Usage: latchkey lock [OPTION]... PATH [--] CMD [ARG]...
       latchkey lock [OPTION]... PATH -c STRING
       latchkey lock [OPTION]... PATH
       latchkey lock [-s|-x] --file FILE ...
       latchkey lock --all PATH... -- CMD [ARG]...

Runs CMD while holding the lock PATH on a ZooKeeper ensemble; -c runs STRING
with $SHELL (else /bin/sh). Without a command it prints "PATH NODE TOKEN" when
it holds the lock, and holds it until INT, TERM, HUP, QUIT, USR1 or USR2; then
its exit status is 0. Options end at PATH. PATH is a znode; what kind of lock
it is must be the same for all who use it:

                             without any of these a mutex, as Apache Curator's
                             InterProcessMutex of that path
  -s, --shared               a lock that others may share,
  -x, -e, --exclusive        the same lock, alone: Curator's
                             InterProcessReadWriteLock
  -N, --permits N            N permits of a semaphore (1), all at once,
      --limit MAX            which has MAX; made with it if need be. Without
                             --limit it must be there
      --file FILE            instead of PATH, for files on storage that hosts
                             share: the lock (-x unless -s) of FILE's canonical
                             name, whether or not FILE exists
      --key KEY              the same for hosts that have the file under
                             different names; KEY is what they agree on
      --all                  the mutexes of several PATHs, all at once; they end
                             at "--". A line each on stdout and in LATCHKEY_PATH

  -z, --servers HOSTS        host:port,host:port,...[/chroot]
                             (else $LATCHKEY_SERVERS, else $ZK_HOSTS)
  -n, --nb, --nonblock       do not wait for the lock; connecting may still take
                             as long as -w, else as the session timeout
  -w, --wait, --timeout SEC  give up after SEC seconds, which may have a
                             fraction, connecting included; 0 is -n
  -E, --conflict-exit-code N exit status if the lock is not acquired (0-255; 1)
  -t, --session-timeout SEC  a dead holder is replaced after about SEC (10)
      --grace SEC            how long CMD may take to end when the lock is about
                             to be lost: TERM so long before the deadline, KILL
                             shortly before it. At most a quarter of the session
                             timeout; without it a twentieth, at most 2
      --auth-file FILE       "digest USER:PASSWORD", a line each; FILE must be
                             closed to others (else $LATCHKEY_AUTH, such a line)
      --pass-auth            leave LATCHKEY_AUTH in the environment of CMD; else
                             it is removed
      --verbose              tell on stderr what happens
      --json                 the line on stdout and diagnostics as JSON objects
  -h, --help                 this text
  -V, --version              the version

CMD gets LATCHKEY_PATH, LATCHKEY_NODE (its znode) and LATCHKEY_TOKEN (the
fencing token, a decimal that grows from exclusive holder to holder) in its
environment, stdin, and a process group of its own. INT, TERM, HUP, QUIT, USR1
and USR2 are passed on to that group; while latchkey waits for the lock they
make it leave the queue.

If the lock is lost, CMD and everything it started is killed before anybody
else can be granted the lock, also when latchkey itself is stopped or killed.
What CMD leaves running in the background when it ends by itself goes on,
without the lock.

Exit status: CMD's own; 128+N if signal N ended it, or the wait; and
    1  not acquired (see -E)               74  cannot write to stdout
   64  wrong use                           76  the lock was lost; never 0 then
   65  the lock cannot be taken            77  not authorized
   69  no server reached within the wait  126  CMD cannot be executed
   71  the system refused                 127  CMD not found
)";
}

}  // namespace latchkey::cli
