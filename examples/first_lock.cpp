// Takes a lock, holds it until you press Enter, and counts the runs of all processes.
//
//     first_lock [SERVERS]
#include <latchkey/client.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>

#include <iostream>
#include <string>

using namespace std::chrono_literals;
using latchkey::operation;

int main(int argc, char** argv) {
    try {
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181");
        latchkey::mutex nightly(zk, "/guide/nightly");

        std::cout << "waiting for the lock" << std::endl;
        latchkey::guard g(nightly, 30s);  // throws if it is not acquired in 30 s
        g.on_loss([](latchkey::loss_reason why) { std::cout << to_string(why) << std::endl; });
        std::cout << "acquired, token " << g.token() << "; press Enter" << std::endl;
        std::cin.get();  // stands for the work
        g.check();       // throws if the lock was lost meanwhile

        // Reads everything that earlier holders have written.
        const auto runs = zk.get("/guide/runs", latchkey::read_from::quorum);
        const std::string next = std::to_string(runs ? std::stoi(runs->data) + 1 : 1);
        // Commits only while the lock is held.
        g.hold().transact({runs ? operation::set("/guide/runs", next, runs->stat.version)
                                : operation::create("/guide/runs", next)});
        std::cout << "run " << next << " is counted" << std::endl;
    } catch (const std::exception& e) {
        std::cerr << "first_lock: " << e.what() << '\n';
        return 1;
    }  // the guard has released the lock, and the client has ended its session
}
