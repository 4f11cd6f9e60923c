#include <latchkey/inspect.hpp>
#include <latchkey/lock_tree.hpp>

#include "fork_table.hpp"

namespace latchkey::test {

using namespace std::chrono_literals;

void add_rows_of_clients(fork_rows& rows) {
    using world = forked_world;
    const auto any = read_from::any_server;
    const std::vector<operation> one{operation::set("/x", "1")};
    rows.push_back(
        {.member = "client::connect",
         .call = [](world&) { client::connect("127.0.0.1:1", {.close_timeout = 0ms}).close(); },
         .costly = true});
    rows_of in_client(rows, "client", [](world& w) -> client& { return w.c; });
    in_client.add("state", [](auto& c) { return c.state(); });
    in_client.add("wait_connected", [](auto& c) { return c.wait_connected(0s); });
    in_client.add("last_error", [](auto& c) { return c.last_error(); });
    in_client.add("session_id", [](auto& c) { return c.session_id(); });
    in_client.add("session_timeout", [](auto& c) { return c.session_timeout(); });
    in_client.add("callback_running_for", [](auto& c) { return c.callback_running_for(); });
    in_client.add("stats", [](auto& c) { return c.stats(); });
    in_client.add("stats_reader", [](auto& c) { return c.stats_reader(); });
    in_client.add("on_change", [](auto& c) { return c.on_change([](connection_state) {}); });
    in_client.add("get", [](auto& c) { return c.get("/"); });
    in_client.add("exists", [](auto& c) { return c.exists("/"); });
    in_client.add("children", [](auto& c) { return c.children("/"); });
    in_client.add("transact", [one](auto& c) { return c.transact(one); });
    in_client.add_async("async_get", [any](auto& c, auto done) { c.async_get("/", any, done); });
    in_client.add_async("async_exists",
                        [any](auto& c, auto done) { c.async_exists("/", any, done); });
    in_client.add_async("async_children",
                        [any](auto& c, auto done) { c.async_children("/", any, done); });
    in_client.add_async("async_transact",
                        [one](auto& c, auto done) { c.async_transact(one, done); });
    in_client.add("get_async", [](auto& c) { return c.get_async("/"); });
    in_client.add("exists_async", [](auto& c) { return c.exists_async("/"); });
    in_client.add("children_async", [](auto& c) { return c.children_async("/"); });
    in_client.add("transact_async", [one](auto& c) { return c.transact_async(one); });
    in_client.add("operator=", [](auto& c) {
        client other = c;
        other = c;
        c = std::move(other);
    });
    in_client.add(
        "close",
        [](auto& c) { c.close(); },
        [](world& w) { w.servers.connect({.close_timeout = 0ms}).close(); });

    rows_of free(rows, "free", [](world& w) -> client& { return w.c; });
    free.add("inspect", [](auto& c) { return inspect(c, "/mutex"); });
    free.add("break_hold", [](auto& c) { return break_hold(c, nobody(), ""); });
    free.add("revoke", [](auto& c) { return revoke(c, nobody()); });
    free.add("walk_locks", [](auto& c) { walk_locks(c, "/", [](const lock_tree_entry&) {}); });

    rows_of reader(
        rows, "client", [](world & w) -> auto& { return w.reader; });
    reader.add("stats_reader", [](auto& read) { return read(); });
    rows_of subscribed(rows, "subscription", [](world& w) -> client& { return w.c; });
    subscribed.add("subscription", [](auto& c) {
        subscription listening = c.on_change([](connection_state) {});
        listening = subscription(std::make_shared<int>(0));
    });
}

void add_rows_of_ensembles(fork_rows& rows) {
    using world = forked_world;
    using testing::ensemble;
    rows_of in(rows, "ensemble", [](world& w) -> ensemble& { return w.servers; });
    rows.push_back({.member = "ensemble::ensemble",
                    .call = [](world&) { const ensemble another; },
                    .costly = true});
    rows.push_back({.member = "ensemble::~ensemble",
                    .call = [](world& w) { w.servers.~ensemble(); },
                    .busy = [](world&) { const ensemble another; },
                    .costly = true});
    in.add(
        "serve",
        [](auto& e) { return e.serve(); },
        [](world& w) { static_cast<void>(w.servers.servers()); });
    in.add("servers", [](auto& e) { return e.servers(); });
    in.add("connect", [](auto& e) { e.connect({.close_timeout = 0ms}).close(); });
    in.add("now", [](auto& e) { return e.now(); });
    in.add("run_for", [](auto& e) { e.run_for(1us); });
    in.add("run_until", [](auto& e) { return e.run_until([] { return true; }, 1us); });
    in.add("advance", [](auto& e) { e.advance(1us); });
    in.add("trace", [](auto& e) { return e.trace(); });
    in.add("sessions", [](auto& e) { return e.sessions(); });
    in.add("expire", [](auto& e) { e.expire(1); });
    in.add("cut", [](auto& e) { e.cut(1); });
    in.add("move", [](auto& e) { e.move(1, 0); });
    in.add("suspend", [](auto& e) { e.suspend(1); });
    in.add("black_hole", [](auto& e) { e.black_hole(1); });
    in.add("confine", [](auto& e) { e.confine(1, 0); });
    in.add("set_clock_rate", [](auto& e) { e.set_clock_rate(1, 1); });
    in.add("pause", [](auto& e) { e.pause(1); });
    in.add("resume", [](auto& e) { e.resume(1); });
    in.add("replace", [](auto& e) { e.replace(1); });
    in.add("leader", [](auto& e) { return e.leader(); });
    in.add("start_server", [](auto& e) { e.start_server(0); });
    in.add("stop_server", [](auto& e) {
        e.stop_server(2);
        e.start_server(2);
    });
    in.add("pause_server", [](auto& e) {
        e.pause_server(2);
        e.resume_server(2);
    });
    in.add("resume_server", [](auto& e) { e.resume_server(2); });
    in.add("isolate", [](auto& e) {
        e.isolate(2);
        e.heal(2);
    });
    in.add("heal", [](auto& e) { e.heal(2); });
    in.add("lag", [](auto& e) { e.lag(0, 0ns); });
    in.add("set_server_clock_rate", [](auto& e) { e.set_server_clock_rate(0, 1); });
    in.add("fail_next",
           [](auto& e) { e.fail_next(ensemble::request_kind::any, ensemble::when::before, 1, 0); });
    in.add("refuse_next", [](auto& e) { e.refuse_next(ensemble::request_kind::set, -102, 1, 0); });
    in.add("faults_to_come", [](auto& e) { return e.faults_to_come(); });
    in.add("inject", [](auto& e) { e.inject({}); });
    in.add("create", [](auto& e) {
        e.create("/made");
        e.remove("/made");
    });
    in.add("remove", [](auto& e) { e.remove("/made"); });
    in.add("set", [](auto& e) { e.set("/zookeeper", "x"); });
    in.add("get", [](auto& e) { return e.get("/"); });
    in.add("exists", [](auto& e) { return e.exists("/"); });
    in.add("children", [](auto& e) { return e.children("/"); });
    in.add("set_acl", [](auto& e) { e.set_acl("/mutex", open_unsafe_acl()); });
    in.add("set_sequence", [](auto& e) { e.set_sequence("/barrier", 0); });
    in.add("reap_containers", [](auto& e) { e.reap_containers(); });
    in.add("count", [](auto& e) { return e.count(); });
    in.add("reset_counters", [](auto& e) { e.reset_counters(); });
    in.add("open_watches", [](auto& e) { return e.open_watches(); });
    // A threaded ensemble is not stepped, so no thread can sit in this.
    in.add("step", [](auto&) { return ensemble({.mode = ensemble::mode::stepped}).step(); });
}

}  // namespace latchkey::test
