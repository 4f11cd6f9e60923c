// Starts ZooKeeper servers for `peers.py` and puts proxies before servers. Prints the addresses of
// a server that follows (or the only one), of the one that leads, and of all. Then each line of
// standard input is answered with one line:
//   proxy HOST:PORT MILLISECONDS  the address of a proxy that delays what clients send
//   received                      the bytes that clients have received through all proxies
#include "another_session.hpp"
#include "real_ensemble.hpp"
#include "tcp_proxy.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <list>
#include <sstream>
#include <stdexcept>
#include <string>

namespace latchkey::bench {
namespace {

using test::tcp_proxy;

std::string answer(const std::string& line, std::list<tcp_proxy>& proxies) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "proxy") {
        std::string server;
        int milliseconds = 0;
        words >> server >> milliseconds;
        proxies.emplace_back(server);
        proxies.back().delay(tcp_proxy::direction::to_server,
                             std::chrono::milliseconds(milliseconds));
        return proxies.back().address();
    }
    if (word == "received") {
        std::uint64_t bytes = 0;
        for (const tcp_proxy& p : proxies) {
            bytes += p.delivered(tcp_proxy::direction::to_client);
        }
        return std::to_string(bytes);
    }
    throw std::runtime_error("no command " + line);
}

void run(int servers, std::chrono::milliseconds apart) {
    // Empty directories stay: no peer is to be charged for creating them again.
    test::real_ensemble ensemble({.servers = servers,
                                  .settings = {},
                                  .has_links = apart.count() > 0,
                                  .java = {"-Xmx4g", "-Dznode.container.checkIntervalMs=600000"}});
    if (apart.count() > 0) {
        ensemble.links().delay(apart);
    }
    const int chosen = servers > 1 ? ensemble.follower() : 1;
    const std::string server = ensemble.address(chosen);
    const another_session busy(server);
    std::list<tcp_proxy> proxies;
    std::cout << server << ' ' << ensemble.address(ensemble.leader()) << ' '
              << ensemble.connect_string() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::cout << answer(line, proxies) << std::endl;
    }
}

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    try {
        if (argc != 3) {
            throw std::runtime_error("usage: SERVERS MILLISECONDS_BETWEEN_THEM");
        }
        latchkey::bench::run(std::stoi(argv[1]), std::chrono::milliseconds(std::stoi(argv[2])));
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
