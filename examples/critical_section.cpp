// A service that works only under the lock, and stops when it may have lost it.
//
//     example_critical_section HOST:PORT[,HOST:PORT...] [TIMES]
#include <latchkey/client.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>

using namespace std::chrono_literals;

bool send_invoices(latchkey::guard& g);

int main(int argc, char** argv) {
    try {
        const auto log = [](const latchkey::log_record& r) { std::cerr << r.text << '\n'; };
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181",
                                            {.session_timeout = 10s, .log = log});
        latchkey::mutex active(zk, "/billing/active");
        for (int times = argc > 2 ? std::stoi(argv[2]) : 1; times > 0; --times) {
            latchkey::guard g(active);  // waits, also through lost sessions
            if (!send_invoices(g)) {
                std::cerr << "stopped: " << to_string(g.hold().why_lost()) << '\n';
            }
        }  // the znode is deleted here, when the work has ended, even if the lock was lost before
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}

/// Stands for a resource outside ZooKeeper. It refuses a token that is lower than the highest one
/// it has seen. In SQL: UPDATE ... SET token = :t WHERE token <= :t
bool store(const std::string& what, latchkey::fencing_token token) {
    static latchkey::fencing_token highest;
    if (token < highest) {
        return false;
    }
    highest = token;
    std::cout << what << ", token " << token << '\n';
    return true;
}

// [work]
bool send_invoices(latchkey::guard& g) {
    std::mutex m;
    std::condition_variable_any pause;
    for (int i = 1; i <= 3; ++i) {
        // Before each effect: is the lock safe for as long as the effect takes?
        if (!g.hold().valid_for(100ms) || !store("invoice " + std::to_string(i), g.token())) {
            return false;
        }
        std::unique_lock waiting(m);  // the pause ends at once when the lock is lost
        pause.wait_for(waiting, g.hold().lost(), 10ms, [] { return false; });
    }
    std::error_code ec;
    g.hold().transact({latchkey::operation::set("/billing", "3 invoices sent")}, ec);
    return !ec;
}

// [/work]
