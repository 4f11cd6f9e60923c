#include <latchkey/inspect.hpp>
#include <latchkey/lock_tree.hpp>

#include "fork_table.hpp"

namespace latchkey::test {

using namespace std::chrono_literals;

void add_rows_of_clients(fork_rows& rows) {
    using world = forked_world;
    const auto any = read_from::any_server;
    const std::vector<operation> one{operation::set("/x", "1")};
    rows.insert(
        rows.end(),
        {{.member = "client::connect",
          .call = [](world&) { client::connect("127.0.0.1:1", {.close_timeout = 0ms}).close(); },
          .costly = true},
         {"client::state", [](world& w) { static_cast<void>(w.c.state()); }},
         {"client::wait_connected", [](world& w) { static_cast<void>(w.c.wait_connected(0s)); }},
         {"client::last_error", [](world& w) { static_cast<void>(w.c.last_error()); }},
         {"client::session_id", [](world& w) { static_cast<void>(w.c.session_id()); }},
         {"client::session_timeout", [](world& w) { static_cast<void>(w.c.session_timeout()); }},
         {"client::callback_running_for",
          [](world& w) { static_cast<void>(w.c.callback_running_for()); }},
         {"client::stats", [](world& w) { static_cast<void>(w.c.stats()); }},
         {"client::stats_reader",
          [](world& w) {
              static_cast<void>(w.reader());
              static_cast<void>(w.c.stats_reader());
          }},
         {"client::on_change",
          [](world& w) { const auto listening = w.c.on_change([](connection_state) {}); }},
         {"subscription::subscription",
          [](world& w) {
              subscription listening = w.c.on_change([](connection_state) {});
              listening = subscription(std::make_shared<int>(0));
          }},
         {"client::get", [](world& w) { static_cast<void>(w.c.get("/")); }},
         {"client::exists", [](world& w) { static_cast<void>(w.c.exists("/")); }},
         {"client::children", [](world& w) { static_cast<void>(w.c.children("/")); }},
         {"client::transact", [one](world& w) { w.c.transact(one); }},
         {"client::async_get",
          [any](world& w) {
              w.wait([&](auto done) {
                  w.c.async_get("/", any, [done](auto, const auto&) { done(); });
              });
          }},
         {"client::async_exists",
          [any](world& w) {
              w.wait([&](auto done) {
                  w.c.async_exists("/", any, [done](auto, const auto&) { done(); });
              });
          }},
         {"client::async_children",
          [any](world& w) {
              w.wait([&](auto done) {
                  w.c.async_children("/", any, [done](auto, const auto&) { done(); });
              });
          }},
         {"client::async_transact",
          [one](world& w) {
              w.wait([&](auto done) {
                  w.c.async_transact(one, [done](auto, const auto&) { done(); });
              });
          }},
         {"client::get_async", [](world& w) { start_awaitable(w, w.c.get_async("/")); }},
         {"client::exists_async", [](world& w) { start_awaitable(w, w.c.exists_async("/")); }},
         {"client::children_async", [](world& w) { start_awaitable(w, w.c.children_async("/")); }},
         {"client::transact_async",
          [one](world& w) { start_awaitable(w, w.c.transact_async(one)); }},
         {"client::operator=",
          [](world& w) {
              client other = w.c;
              other = w.c;
              w.c = std::move(other);
          }},
         {"client::close",
          [](world& w) { w.c.close(); },
          [](world& w) { w.servers.connect({.close_timeout = 0ms}).close(); }},
         {"free::inspect", [](world& w) { static_cast<void>(inspect(w.c, "/mutex")); }},
         {"free::break_hold", [](world& w) { static_cast<void>(break_hold(w.c, nobody(), "")); }},
         {"free::revoke", [](world& w) { static_cast<void>(revoke(w.c, nobody())); }},
         {"free::walk_locks",
          [](world& w) { walk_locks(w.c, "/", [](const lock_tree_entry&) {}); }}});
}

void add_rows_of_ensembles(fork_rows& rows) {
    using world = forked_world;
    using testing::ensemble;
    const auto add = [&](const char* name, auto call) {
        rows.push_back({.member = std::string("ensemble::") + name,
                        .call = [call](world& w) { call(w.servers); }});
    };
    rows.push_back({.member = "ensemble::ensemble",
                    .call = [](world&) { const ensemble another; },
                    .costly = true});
    rows.push_back({.member = "ensemble::~ensemble",
                    .call = [](world& w) { w.servers.~ensemble(); },
                    .busy = [](world&) { const ensemble another; },
                    .costly = true});
    rows.push_back({.member = "ensemble::serve",
                    .call = [](world& w) { static_cast<void>(w.servers.serve()); },
                    .busy = [](world& w) { static_cast<void>(w.servers.servers()); }});
    add("servers", [](ensemble& e) { static_cast<void>(e.servers()); });
    add("connect", [](ensemble& e) { e.connect({.close_timeout = 0ms}).close(); });
    add("now", [](ensemble& e) { static_cast<void>(e.now()); });
    add("run_for", [](ensemble& e) { e.run_for(1us); });
    add("run_until", [](ensemble& e) { static_cast<void>(e.run_until([] { return true; }, 1us)); });
    add("advance", [](ensemble& e) { e.advance(1us); });
    add("trace", [](ensemble& e) { static_cast<void>(e.trace()); });
    add("sessions", [](ensemble& e) { static_cast<void>(e.sessions()); });
    add("expire", [](ensemble& e) { e.expire(1); });
    add("cut", [](ensemble& e) { e.cut(1); });
    add("move", [](ensemble& e) { e.move(1, 0); });
    add("suspend", [](ensemble& e) { e.suspend(1); });
    add("black_hole", [](ensemble& e) { e.black_hole(1); });
    add("confine", [](ensemble& e) { e.confine(1, 0); });
    add("set_clock_rate", [](ensemble& e) { e.set_clock_rate(1, 1); });
    add("pause", [](ensemble& e) { e.pause(1); });
    add("resume", [](ensemble& e) { e.resume(1); });
    add("replace", [](ensemble& e) { e.replace(1); });
    add("leader", [](ensemble& e) { static_cast<void>(e.leader()); });
    add("start_server", [](ensemble& e) { e.start_server(0); });
    add("stop_server", [](ensemble& e) {
        e.stop_server(2);
        e.start_server(2);
    });
    add("pause_server", [](ensemble& e) {
        e.pause_server(2);
        e.resume_server(2);
    });
    add("resume_server", [](ensemble& e) { e.resume_server(2); });
    add("isolate", [](ensemble& e) {
        e.isolate(2);
        e.heal(2);
    });
    add("heal", [](ensemble& e) { e.heal(2); });
    add("lag", [](ensemble& e) { e.lag(0, 0ns); });
    add("set_server_clock_rate", [](ensemble& e) { e.set_server_clock_rate(0, 1); });
    add("fail_next", [](ensemble& e) {
        e.fail_next(ensemble::request_kind::any, ensemble::when::before, 1, 0);
    });
    add("refuse_next", [](ensemble& e) { e.refuse_next(ensemble::request_kind::set, -102, 1, 0); });
    add("faults_to_come", [](ensemble& e) { static_cast<void>(e.faults_to_come()); });
    add("inject", [](ensemble& e) { e.inject({}); });
    add("create", [](ensemble& e) {
        e.create("/made");
        e.remove("/made");
    });
    add("remove", [](ensemble& e) { e.remove("/made"); });
    add("set", [](ensemble& e) { e.set("/zookeeper", "x"); });
    add("get", [](ensemble& e) { static_cast<void>(e.get("/")); });
    add("exists", [](ensemble& e) { static_cast<void>(e.exists("/")); });
    add("children", [](ensemble& e) { static_cast<void>(e.children("/")); });
    add("set_acl", [](ensemble& e) { e.set_acl("/mutex", open_unsafe_acl()); });
    add("set_sequence", [](ensemble& e) { e.set_sequence("/barrier", 0); });
    add("reap_containers", [](ensemble& e) { e.reap_containers(); });
    add("count", [](ensemble& e) {
        static_cast<void>(e.count());
        static_cast<void>(e.count(1));
    });
    add("reset_counters", [](ensemble& e) { e.reset_counters(); });
    add("open_watches", [](ensemble& e) { static_cast<void>(e.open_watches()); });
    // A threaded ensemble is not stepped, so no thread can sit in this.
    add("step", [](ensemble&) {
        ensemble stepped({.mode = ensemble::mode::stepped});
        static_cast<void>(stepped.step());
    });
}

}  // namespace latchkey::test
