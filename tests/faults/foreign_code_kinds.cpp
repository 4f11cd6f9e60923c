#include "foreign_code_kinds.hpp"

#include <latchkey/group.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>

#include "plain_coroutine.hpp"

#include <atomic>
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

}  // namespace

const std::vector<foreign_kind>& foreign_kinds() {
    static const std::vector<foreign_kind> all{
        {"Listener",
         false,
         [](arrangement& a) {
             const auto told = std::make_shared<std::atomic<bool>>(false);
             a.keep(a.c().on_change([told, f = a.foreign](connection_state) {
                 *told = true;
                 f();
             }));
             a.lose_the_connection_until([told] { return told->load(); });
         }},
        {"Handler",
         false,
         [](arrangement& a) {
             a.make<mutex>(a.c(), "/lock")
                 .async_acquire({}, [f = a.foreign](std::error_code, const hold&) { f(); });
         }},
        {"HandlerOfARead",
         false,
         [](arrangement& a) {
             a.c().async_get("/", read_from::quorum, [f = a.foreign](auto, const auto&) { f(); });
         }},
        {"Reserved",
         false,
         [](arrangement& a) {
             a.make<mutex>(a.c(), "/lock")
                 .async_acquire(
                     {.stop = {}, .reserved = [f = a.foreign](const queue_position&) { f(); }},
                     [](std::error_code, const hold&) {});
         }},
        {"Coroutine",
         false,
         [](arrangement& a) { acquire_in_a_coroutine(a.make<mutex>(a.c(), "/lock"), a.foreign); }},
        {"Log",
         false,
         [](arrangement& a) {
             a.how.log = [f = a.foreign](const log_record&) { f(); };
             a.make<mutex>(a.c(), "/lock").async_acquire({}, [](std::error_code, const hold&) {
                 throw 1;
             });
         }},
        {"Observer",
         false,
         [](arrangement& a) {
             a.how.observer = [f = a.foreign](const event&) { f(); };
             a.held();
         }},
        {"CallOfTheExecutor",
         false,
         [](arrangement& a) {
             a.how.executor = [f = a.foreign](move_only_function<void()> given) {
                 f();
                 given();
             };
             a.make<mutex>(a.c(), "/lock").async_acquire({}, [](std::error_code, const hold&) {});
         }},
        {"CaptureOfAHandler",
         false,
         [](arrangement& a) {
             a.make<mutex>(a.c(), "/lock")
                 .async_acquire(
                     {}, [end = at_the_last_copy(a.foreign)](std::error_code, const hold&) {});
         }},
        {"CaptureOfTheExecutor",
         false,
         [](arrangement& a) {
             client_options how;
             how.executor = [end = at_the_last_copy(a.foreign)](move_only_function<void()> f) {
                 f();
             };
             client other = a.servers.connect(std::move(how));
             hold late = mutex(other, "/late").acquire();
             other.close();
             other = a.c();
             // The loop drops what is left of that client, or that thread does.
             a.keep(std::jthread([h = std::move(late)]() mutable { h.release(); }));
         }},
        {"ListenerOfALeader",
         false,
         [](arrangement& a) {
             auto& latch = a.make<leader_latch>(a.c(), "/leader");
             a.keep(latch.on_change({.elected = [f = a.foreign](const leadership&) { f(); }}));
             latch.start();
         }},
        {"ListenerOfALeaderObserver",
         false,
         [](arrangement& a) {
             auto& seeing = a.make<leader_observer>(a.c(), "/leader");
             a.keep(seeing.on_change([f = a.foreign](const auto&) { f(); }));
         }},
        {"ListenerOfAGroup",
         false,
         [](arrangement& a) {
             auto& members = a.make<group>(a.c(), "/group");
             a.keep(members.on_change([f = a.foreign](const auto&) { f(); }));
         }},
        {"FunctionOfASelector",
         false,
         [](arrangement& a) {
             begin_selector(a, [f = a.foreign](const leadership&, const std::stop_token&) { f(); });
         }},
        {"LostCallback",
         true,
         [](arrangement& a) {
             a.on_stop(a.held().lost());
             a.expire();
         }},
        {"LostCallbackOfADeletedZnode",
         true,
         [](arrangement& a) {
             const hold& h = a.held();
             a.on_stop(h.lost());
             a.servers.remove(h.path());
         }},
        {"AtRiskCallbackOfASuddenLoss",
         true,
         [](arrangement& a) {
             a.on_stop(a.held().at_risk(1s));
             a.expire();
         }},
        {"AtRiskCallbackThatComesAtOnce",
         true,
         [](arrangement& a) { a.on_stop(a.held().at_risk(1h)); }},
        {"AtRiskCallbackOfAReleasedHold",
         true,
         [](arrangement& a) {
             hold& h = a.held();
             const auto begun = std::make_shared<std::atomic<bool>>(false);
             a.make<std::stop_callback<std::function<void()>>>(h.at_risk(1s),
                                                               [begun, f = a.foreign] {
                                                                   *begun = true;
                                                                   f();
                                                               });
             a.servers.remove(h.path());
             EXPECT_TRUE(eventually([&] { return begun->load(); }));
             h.release();
         }},
        {"RevocationCallback",
         true,
         [](arrangement& a) {
             const hold& h = a.held();
             a.on_stop(h.revocation_requested());
             a.servers.set(h.path(), "__REVOKE__");
         }},
        {"LostCallbackOfATerm",
         true,
         [](arrangement& a) {
             a.on_stop(a.leading().lost());
             a.expire();
         }},
        {"AtRiskCallbackOfATerm",
         true,
         [](arrangement& a) {
             a.on_stop(a.leading().at_risk(1s));
             a.expire();
         }},
        {"InterruptionCallbackOfASelector", true, [](arrangement& a) {
             const auto running = std::make_shared<std::atomic<bool>>(false);
             begin_selector(
                 a, [running, f = a.foreign](const leadership&, const std::stop_token& stop) {
                     const std::stop_callback on_stop(stop, f);
                     *running = true;
                     EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }, long_enough));
                 });
             EXPECT_TRUE(eventually([&] { return running->load(); }, long_enough));
             a.expire();
         }}};
    return all;
}

}  // namespace latchkey::test
