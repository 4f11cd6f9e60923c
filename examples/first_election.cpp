// Waits until it leads, leads for five seconds, and hands over. Run it in two terminals.
//
//     first_election [SERVERS [NAME]]
#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

using namespace std::chrono_literals;

void work(std::stop_token lost) {
    std::mutex m;
    std::unique_lock waiting(m);
    std::condition_variable_any().wait_for(waiting, std::move(lost), 1s, [] { return false; });
}

int main(int argc, char** argv) {
    const std::string name = argc > 2 ? argv[2] : "one";
    try {
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181");

        // Any client may follow the leader. It need not be a candidate.
        latchkey::leader_observer leader(zk, "/guide/leader");
        const auto following =
            leader.on_change([](const std::optional<latchkey::leader_info>& now) {
                std::cout << (now ? "leader: " + now->id : "no leader") << std::endl;
            });

        // `data` is what the leader publishes, for example its address.
        latchkey::leader_latch latch(zk, "/guide/leader", {.id = name, .data = "10.0.0.7:8080"});
        const latchkey::leadership term = latch.wait();
        std::cout << name << " leads with token " << term.token() << std::endl;
        for (int second = 1; second <= 5 && term.valid(); ++second) {
            std::cout << name << " works: " << second << std::endl;
            work(term.lost());
        }
        if (!term.valid()) {
            std::cout << name << " lost the leadership: " << to_string(term.why_lost()) << '\n';
        }
    } catch (const std::exception& e) {
        std::cerr << "first_election: " << e.what() << '\n';
        return 1;
    }  // the latch gives up the leadership: the next candidate leads at once
}
