// Waits until it leads, leads until you press Enter, and hands over.
//
//     first_election [SERVERS [NAME]]
#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include <iostream>
#include <optional>
#include <string>

int main(int argc, char** argv) {
    const std::string name = argc > 2 ? argv[2] : "one";
    try {
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181");

        // Any client may follow the leader. It need not be a candidate.
        latchkey::leader_observer leader(zk, "/guide/leader");
        const auto s = leader.on_change([](const std::optional<latchkey::leader_info>& now) {
            std::cout << (now ? "leader: " + now->id : "no leader") << std::endl;
        });

        // `data` is what the leader publishes, for example its address.
        latchkey::leader_latch latch(zk, "/guide/leader", {.id = name, .data = "10.0.0.7:8080"});
        const latchkey::leadership term = latch.wait();
        std::cout << name << " leads, token " << term.token() << "; press Enter" << std::endl;
        std::cin.get();  // stands for the work; it should end when term.lost() is requested
        std::cout << (term ? "hands over" : to_string(term.why_lost())) << std::endl;
    } catch (const std::exception& e) {
        std::cerr << "first_election: " << e.what() << '\n';
        return 1;
    }  // the latch has given up the leadership: the next candidate leads at once
}
