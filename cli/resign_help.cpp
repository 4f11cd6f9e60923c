#include "resign_help.hpp"

namespace latchkey::cli {

std::string resign_help() {
    return R"(Usage: latchkey resign [OPTION]... PATH

Asks the leader of the election on PATH to hand over: it finishes what it does,
and becomes a candidate again, at the tail of the queue. It leads again if there
is nobody else. latchkey elect can be asked, and programs whose leader_latch has
a leader_preference; Apache Curator's leaders cannot.

      --to ID                to the candidate that calls itself ID, ahead of all
                             others; nothing happens if there is none, or it
                             does not accept

  -z, --servers HOSTS        host:port,host:port,...[/chroot]
                             (else $LATCHKEY_SERVERS, else $ZK_HOSTS)
  -t, --session-timeout SEC  gives up after so long if no server answers (10)
      --auth-file FILE       "digest USER:PASSWORD", a line each; FILE must be
                             closed to others (else $LATCHKEY_AUTH, such a line)
      --verbose              tell on stderr what happens
      --json                 diagnostics as JSON objects
  -h, --help                 this text
  -V, --version              the version

It does not wait for the next leader: latchkey elect -l tells who that is.

Exit status: 0 if the leader was asked, and
    1  nobody leads                        69  no server answers
   64  wrong use                           77  not authorized
   65  the leader cannot be asked
)";
}

}  // namespace latchkey::cli
