// The C++ of docs/coming-from-curator.md, docs/coming-from-others.md and docs/faq.md. The pages
// show what stands between the lines "// [name]" and "// [/name]".
//
//     example_coming_from HOST:PORT[,HOST:PORT...]
#include <latchkey/client.hpp>
#include <latchkey/group.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

using namespace std::chrono_literals;
using latchkey::operation;

namespace {

// What the examples work on. A real store refuses a token that is lower than the highest it has
// seen.
void store(const std::string& what, latchkey::fencing_token token) {
    std::cout << what << ", token " << token.value() << '\n';
}

std::stop_source shutting_down;
std::atomic<int> reports_left = 3;
std::binary_semaphore all_reports_written(0);

bool write_next_report(latchkey::fencing_token token) {
    if (reports_left == 0) {
        return false;
    }
    store("report", token);
    if (--reports_left == 0) {
        all_reports_written.release();
    }
    return true;
}

bool serve_one_request(const latchkey::leadership& term) {
    store("request", term.token());
    shutting_down.request_stop();
    return false;
}

void wait_for_shutdown() {
    all_reports_written.acquire();
}

// [connect]
latchkey::client connect(const std::string& servers) {
    return latchkey::client::connect(
        servers + "/app",  // namespace("app")
        {.session_timeout = 30s, .log = [](const latchkey::log_record& line) {
             std::cerr << line.id << ": " << line.text << '\n';
         }});
}

// [/connect]

// [mutex]
void charge(const latchkey::client& zk) {
    latchkey::mutex account(zk, "/accounts/4711");
    latchkey::guard g(account, 30s);  // throws errc::not_acquired
    store("charge", g.token());       // the store refuses older tokens
    g.check();                        // throws errc::hold_lost
    store("receipt", g.token());
}  // released

// [/mutex]

// [recursive]
void transfer(latchkey::recursive_mutex& account) {
    const std::scoped_lock lock(account);  // this thread may have locked it already
    store("transfer", account.held().token());
}

void transfer_twice(const latchkey::client& zk) {
    latchkey::recursive_mutex account(zk, "/accounts/4711");
    const std::scoped_lock lock(account);
    transfer(account);
    transfer(account);
}

// [/recursive]

// [latch]
void serve(const latchkey::client& zk, std::stop_token stop) {
    latchkey::leader_latch latch(zk, "/service/leader", {.id = "node-7", .data = "10.0.0.7:8080"});
    const auto listening = latch.on_change(
        {.elected = [](const latchkey::leadership& term) { store("elected", term.token()); },
         .lost =
             [](const latchkey::leadership&, latchkey::loss_reason why) {
                 std::cout << "leads no more: " << to_string(why) << '\n';
             }});
    while (!stop.stop_requested()) {
        latchkey::leadership term = latch.wait(stop);
        while (term.valid() && serve_one_request(term)) {
        }
        latch.resign();  // a candidate again, at the tail
    }
}  // closed

// [/latch]

// [selector]
void report(const latchkey::client& zk) {
    latchkey::leader_selector reports(
        zk,
        "/reports/leader",
        {.id = "node-7"},
        [](const latchkey::leadership& term, std::stop_token stop) {
            while (!stop.stop_requested() && write_next_report(term.token())) {
            }
        });  // a candidate again when the function has returned
    reports.start();
    wait_for_shutdown();
}  // requests the function's stop token, and waits until it has returned

// [/selector]

// [revocable]
void use_until_asked(const latchkey::client& zk) {
    latchkey::mutex printer(zk, "/printer");
    latchkey::hold h = printer.acquire();
    std::stop_token asked = h.revocation_requested();  // Revoker.attemptRevoke(), revoke()
    while (h.valid() && !asked.stop_requested() && write_next_report(h.token())) {
    }
}

// [/revocable]

// [counter]
// DistributedAtomicLong's data: 8 bytes, the most significant first.
std::string to_bytes(std::int64_t value) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) {
        bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xff);
    }
    return bytes;
}

std::int64_t from_bytes(const std::string& bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) {
        value = value << 8 | static_cast<unsigned char>(c);
    }
    return static_cast<std::int64_t>(value);
}

std::int64_t add(const latchkey::client& zk, const std::string& path, std::int64_t amount) {
    while (true) {
        const auto now = zk.get(path);
        const std::int64_t sum = (now ? from_bytes(now->data) : 0) + amount;
        std::vector<operation> change;
        change.push_back(now ? operation::set(path, to_bytes(sum), now->stat.version)
                             : operation::create(path, to_bytes(sum)));
        std::error_code ec;
        zk.transact(std::move(change), ec);
        if (!ec) {
            return sum;
        }
        if (ec != latchkey::errc::version_mismatch && ec != latchkey::errc::znode_exists) {
            throw std::system_error(ec, path);  // indeterminate: added, or not
        }
    }
}

// [/counter]

// [children]
void follow_children(const latchkey::client& zk) {
    latchkey::group workers(zk, "/workers");
    const auto me = workers.join("worker-3", {.data = "10.0.0.3:8080"});
    const auto following = workers.on_change([](const std::vector<latchkey::group_member>& now) {
        std::cout << now.size() << " znodes below /workers\n";
    });
    // ... until `following` is destroyed
}

// [/children]

// [guarded]
void finish_job(const latchkey::client& zk) {
    latchkey::mutex nightly(zk, "/jobs/nightly");
    latchkey::hold h = nightly.acquire();
    // Commits only while this hold exists on the servers, else throws errc::hold_lost.
    h.transact(
        {operation::create("/jobs/done-", "ok", operation::lifetime::persistent_sequential)});
}

// [/guarded]

// [once]
void bill(const latchkey::client& zk, const std::string& day) {
    latchkey::mutex billing(zk, "/billing/lock");
    latchkey::hold h = billing.acquire();
    const bool now =
        h.transact_once("/billing/" + day, {operation::create("/billing/done-" + day)});
    std::cout << (now ? "billed now\n" : "billed before\n");
}

// [/once]

// [outcomes]
void try_for_a_second(const latchkey::client& zk) {
    latchkey::mutex m(zk, "/jobs/hourly");
    std::error_code ec;
    if (latchkey::hold h = m.try_acquire_for(1s, ec)) {
        store("hourly", h.token());
    } else if (!ec) {
        std::cout << "another client has it\n";
    } else if (ec == latchkey::errc::unreachable) {
        std::cout << "no server was reached, so nothing is known\n";
    } else {
        throw std::system_error(ec, "/jobs/hourly");
    }
}

// [/outcomes]

// [enough]
void write_if_there_is_time(const latchkey::hold& h) {
    if (h.valid_for(2s)) {  // the call below takes at most 2 s
        store("write", h.token());
    }
}

// [/enough]

}  // namespace

int main(int argc, char** argv) {
    try {
        const latchkey::client zk = connect(argc > 1 ? argv[1] : "127.0.0.1:2181");
        charge(zk);
        transfer_twice(zk);
        serve(zk, shutting_down.get_token());
        report(zk);
        use_until_asked(zk);
        std::cout << "counted to " << add(zk, "/counter", 1) << '\n';
        follow_children(zk);
        finish_job(zk);
        bill(zk, "2026-11-23");
        try_for_a_second(zk);
        latchkey::mutex m(zk, "/jobs/nightly");
        latchkey::hold h = m.acquire();
        write_if_there_is_time(h);
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "stopped: " << e.what() << '\n';
        return 1;
    }
}
