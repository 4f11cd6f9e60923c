// A service that works only under the lock, and stops when it may have lost it.
//
//     example_critical_section HOST:PORT[,HOST:PORT...] [TIMES]
#include <latchkey/mutex.hpp>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>

using namespace std::chrono_literals;

bool send_invoices(latchkey::hold& h);

int main(int argc, char** argv) {
    const auto report = [](std::string_view line) { std::cerr << line << '\n'; };
    try {
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181",
                                            {.session_timeout = 10s, .log = report});
        latchkey::mutex active(zk, "/billing/active");
        for (int times = argc > 2 ? std::stoi(argv[2]) : 1; times > 0; --times) {
            latchkey::hold h = active.acquire();  // through lost sessions, too
            if (!send_invoices(h)) {
                report(std::string("stopped: ") + to_string(h.why_lost()));
            }
        }  // only here, when the work has ended, does the znode go, lost or not
    } catch (const std::exception& e) {
        report(e.what());
        return 1;
    }
}

/// Stands for something outside ZooKeeper that must not be written by two at once. It takes part in
/// the protection: a token that is older than the newest it has seen is refused.
bool store(const std::string& what, latchkey::fencing_token token) {
    static latchkey::fencing_token newest;
    if (token < newest) {
        return false;
    }
    newest = token;
    std::cout << what << ", token " << token.to_string() << '\n';
    return true;
}

bool send_invoices(latchkey::hold& h) {
    std::mutex m;
    std::condition_variable_any pause;
    for (int i = 1; i <= 3; ++i) {
        // Asked before every effect; a pause between two ends at once when the hold is lost.
        if (!h.valid() || !store("invoice " + std::to_string(i), h.token())) {
            return false;
        }
        std::unique_lock lock(m);
        pause.wait_for(lock, h.lost(), 10ms, [] { return false; });
    }
    // Inside ZooKeeper the servers themselves refuse the effect of a holder that has lost.
    std::error_code ec;
    h.transact({latchkey::operation::set("/billing", "3 invoices sent")}, ec);
    return !ec;  // error_kind::indeterminate: the connection broke; read /billing to know
}
