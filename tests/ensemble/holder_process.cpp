#include "holder_process.hpp"

#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>

#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

namespace latchkey::test {
namespace {

template <class Held, class Release>
void serve(Held& held, const Release& release) {
    std::cout << held.token().zxid << std::endl;
    for (std::string order; std::cin >> order;) {
        if (order == "look") {
            // The first thing that it does when it was stopped meanwhile.
            std::cout << (held.valid() ? "valid" : "lost") << std::endl;
        } else if (order == "write") {
            std::string znode;
            std::cin >> znode;
            std::error_code failed;
            held.transact({operation::set(znode, "by the holder")}, failed);
            std::cout << (failed ? failed.message() : "done") << std::endl;
        } else if (order == "fork") {
            const pid_t child = ::fork();
            while (child == 0) {
                ::pause();
            }
            std::cout << child << std::endl;
        } else if (order == "eat") {
            for (std::vector<std::string> all;;) {
                all.emplace_back(1U << 20U, 'x');
            }
        } else if (order == "release") {
            release();
            std::cout << "released" << std::endl;
        }
    }
}

}  // namespace

void run_holder(const holder_order& o) {
    client_options how{.session_timeout = o.session_timeout};
    if (!o.guardian.empty()) {
        how.guardian = o.guardian;
    }
    client zk = client::connect(o.servers, how);
    if (o.what == holder_order::held_by::leader_latch) {
        leader_latch latch(zk, o.path);
        leadership term = latch.wait();
        serve(term, [&] { latch.resign(); });
    } else {
        mutex lock(zk, o.path);
        hold held = lock.acquire();
        serve(held, [&] { static_cast<void>(held.release_and_wait()); });
    }
}

}  // namespace latchkey::test
