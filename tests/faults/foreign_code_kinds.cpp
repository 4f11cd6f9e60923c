#include "foreign_code_kinds.hpp"

#include <latchkey/group.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>

#include "plain_coroutine.hpp"

#include <atomic>
#include <latch>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// Calls `foreign` when the last of its copies is destroyed.
std::shared_ptr<void> at_the_last_copy(const std::function<void()>& foreign) {
    return {nullptr, [foreign](void*) { foreign(); }};
}

detached_coroutine acquire_in_a_coroutine(mutex& m, std::function<void()> foreign) {
    auto acquiring = with_error(m.acquire_async());
    const auto result = co_await std::move(acquiring);
    static_cast<void>(result);
    foreign();
}

void begin_selector(arrangement& a, const leader_selector::work& work) {
    a.make<leader_selector>(a.c(), "/selected", leader_options{}, work).start();
}

std::vector<foreign_kind> every_kind_of_callback() {
    std::vector<foreign_kind> all;
    const auto add = [&](const char* name, auto begin) { all.push_back({name, false, begin}); };
    const auto ignore = [](std::error_code, const hold&) {};
    add("Listener", [](arrangement& a) {
        const auto told = std::make_shared<std::atomic<bool>>(false);
        a.keep(a.c().on_change([told, f = a.foreign](connection_state) {
            *told = true;
            f();
        }));
        a.lose_the_connection_until([told] { return told->load(); });
    });
    add("Handler", [](arrangement& a) {
        a.lock().async_acquire({}, [f = a.foreign](std::error_code, const hold&) { f(); });
    });
    add("HandlerOfARead", [](arrangement& a) {
        a.c().async_get("/", read_from::quorum, [f = a.foreign](auto, const auto&) { f(); });
    });
    add("Reserved", [ignore](arrangement& a) {
        a.lock().async_acquire({.reserved = [f = a.foreign](const auto&) { f(); }}, ignore);
    });
    add("Coroutine", [](arrangement& a) { acquire_in_a_coroutine(a.lock(), a.foreign); });
    add("Log", [](arrangement& a) {
        a.how.log = [f = a.foreign](const log_record&) { f(); };
        a.lock().async_acquire({}, [](std::error_code, const hold&) { throw 1; });
    });
    add("Observer", [](arrangement& a) {
        a.how.observer = [f = a.foreign](const event&) { f(); };
        a.held();
    });
    add("CallOfTheExecutor", [ignore](arrangement& a) {
        a.how.executor = [f = a.foreign](move_only_function<void()> given) {
            f();
            given();
        };
        a.lock().async_acquire({}, ignore);
    });
    add("CaptureOfAHandler", [](arrangement& a) {
        a.lock().async_acquire(
            {}, [end = at_the_last_copy(a.foreign)](std::error_code, const hold&) {});
    });
    add("CaptureOfTheExecutor", [](arrangement& a) {
        client_options how;
        how.executor = [end = at_the_last_copy(a.foreign)](move_only_function<void()> f) { f(); };
        client other = a.servers.connect(std::move(how));
        hold late = mutex(other, "/late").acquire();
        other.close();
        other = a.c();
        // The loop drops what is left of that client, or that thread does.
        a.keep(std::jthread([h = std::move(late)]() mutable { h.release(); }));
    });
    add("ListenerOfALeader", [](arrangement& a) {
        auto& latch = a.make<leader_latch>(a.c(), "/leader");
        a.keep(latch.on_change({.elected = [f = a.foreign](const leadership&) { f(); }}));
        latch.start();
    });
    add("ListenerOfALeaderObserver", [](arrangement& a) {
        auto& seeing = a.make<leader_observer>(a.c(), "/leader");
        a.keep(seeing.on_change([f = a.foreign](const auto&) { f(); }));
    });
    add("ListenerOfAGroup", [](arrangement& a) {
        auto& members = a.make<group>(a.c(), "/group");
        a.keep(members.on_change([f = a.foreign](const auto&) { f(); }));
    });
    add("FunctionOfASelector", [](arrangement& a) {
        begin_selector(a, [f = a.foreign](const leadership&, const std::stop_token&) { f(); });
    });
    return all;
}

std::vector<foreign_kind> every_kind_of_stop_callback() {
    std::vector<foreign_kind> all;
    const auto add = [&](const char* name, auto begin) { all.push_back({name, true, begin}); };
    /// Of a token whose stop is requested when the session ends.
    const auto at_expiry = [&](const char* name, auto token_of) {
        add(name, [token_of](arrangement& a) {
            a.on_stop(token_of(a));
            a.expire();
        });
    };
    at_expiry("LostCallback", [](auto& a) { return a.held().lost(); });
    at_expiry("AtRiskCallbackOfASuddenLoss", [](auto& a) { return a.held().at_risk(1s); });
    at_expiry("LostCallbackOfATerm", [](auto& a) { return a.leading().lost(); });
    at_expiry("AtRiskCallbackOfATerm", [](auto& a) { return a.leading().at_risk(1s); });
    add("LostCallbackOfADeletedZnode", [](arrangement& a) {
        const hold& h = a.held();
        a.on_stop(h.lost());
        a.servers.remove(h.path());
    });
    add("AtRiskCallbackThatComesAtOnce", [](arrangement& a) {
        // If the stop is requested before the callback is registered, it runs where that is done.
        a.make<std::jthread>([at_risk = a.held().at_risk(1h), f = a.foreign] {
            std::latch begun(1);
            const std::stop_callback call(at_risk, [&] {
                begun.count_down();
                f();
            });
            begun.wait();
        });
    });
    add("AtRiskCallbackOfAReleasedHold", [](arrangement& a) {
        hold& h = a.held();
        const auto begun = std::make_shared<std::atomic<bool>>(false);
        a.make<std::stop_callback<std::function<void()>>>(h.at_risk(1s), [begun, f = a.foreign] {
            *begun = true;
            f();
        });
        a.servers.remove(h.path());
        EXPECT_TRUE(eventually([&] { return begun->load(); }));
        h.release();
    });
    add("RevocationCallback", [](arrangement& a) {
        const hold& h = a.held();
        a.on_stop(h.revocation_requested());
        a.servers.set(h.path(), "__REVOKE__");
    });
    add("InterruptionCallbackOfASelector", [](arrangement& a) {
        const auto running = std::make_shared<std::atomic<bool>>(false);
        begin_selector(a, [running, f = a.foreign](const leadership&, const std::stop_token& stop) {
            const std::stop_callback on_stop(stop, f);
            *running = true;
            EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }, long_enough));
        });
        EXPECT_TRUE(eventually([&] { return running->load(); }, long_enough));
        a.expire();
    });
    return all;
}

}  // namespace

const std::vector<foreign_kind>& foreign_kinds() {
    static const std::vector<foreign_kind> all = [] {
        auto kinds = every_kind_of_callback();
        const auto more = every_kind_of_stop_callback();
        kinds.insert(kinds.end(), more.begin(), more.end());
        return kinds;
    }();
    return all;
}

}  // namespace latchkey::test
