#include "dev_server_help.hpp"

namespace latchkey::cli {

std::string dev_server_help() {
    return R"(Usage: latchkey dev-server [OPTION]...

Runs a ZooKeeper ensemble for development and tests in this one process, without
Java. Every ZooKeeper client can use it: latchkey, Apache Curator, kazoo,
zkCli.sh and others. It keeps everything in memory: when it ends, all znodes and
sessions are gone. Never use it in production.

      --listen HOST:PORT     where the first server listens (127.0.0.1:2181);
                             HOST is a numeric address, IPv6 in brackets. The
                             next server listens on the next port. With port 0
                             each takes a free one
      --servers N            so many servers, 1 to 9 (1)
      --tick SEC             session timeouts are from 2 to 20 ticks (2)
  -h, --help                 this text
  -V, --version              the version

When it listens it prints the connect string on stdout, and what it is on
stderr. INT, TERM, HUP and QUIT end it. Anyone who reaches the ports can do
everything that access control lists do not forbid.

It answers the four-letter words ruok, srvr, stat and isro. It has no TLS, no
SASL, and no znodes with a time to live.

Exit status: 0 if a signal ended it, and
   64  wrong use                           74  cannot write to stdout
   71  it cannot listen there
)";
}

}  // namespace latchkey::cli
