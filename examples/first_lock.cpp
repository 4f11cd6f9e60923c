// Takes a lock, works under it, and counts the runs of all processes. Run it in two terminals.
//
//     first_lock [SERVERS]
#include <latchkey/client.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>

using namespace std::chrono_literals;
using latchkey::op;

/// Stands for two seconds of work. Ends at once when the lock is lost.
void work(std::stop_token lost) {
    std::mutex m;
    std::unique_lock waiting(m);
    std::condition_variable_any().wait_for(waiting, std::move(lost), 2s, [] { return false; });
}

int main(int argc, char** argv) {
    try {
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181");
        latchkey::mutex nightly(zk, "/guide/nightly");

        std::cout << "waiting for the lock" << std::endl;
        latchkey::guard g(nightly, 30s);  // throws if it is not acquired in 30 s
        std::cout << "acquired, token " << g.token() << std::endl;

        work(g.hold().lost());
        g.check();  // throws if the lock was lost meanwhile

        // Reads everything that earlier holders have written.
        const auto runs = zk.get("/guide/runs", latchkey::read_from::quorum);
        const std::string next = std::to_string(runs ? std::stoi(runs->data) + 1 : 1);
        // Commits only while the lock is held.
        g.hold().transact({runs ? op::set("/guide/runs", next, runs->stat.version)
                                : op::create("/guide/runs", next)});
        std::cout << "run " << next << " is counted" << std::endl;
    } catch (const std::exception& e) {
        std::cerr << "first_lock: " << e.what() << '\n';
        return 1;
    }  // the guard releases the lock, the client ends its session
}
