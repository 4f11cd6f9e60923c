#include "fork_table.hpp"

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using world = forked_world;

constexpr auto briefly = 10ms;

std::chrono::steady_clock::time_point brief_deadline() {
    return std::chrono::steady_clock::now() + briefly;
}

/// Rows of wait_forms.
template <class Of>
void add_wait_forms(rows_of<Of>& in) {
    in.add("wait", [](auto& r) { return r.wait(); });
    in.add("wait_for", [](auto& r) { return r.wait_for(briefly); });
    in.add("wait_until", [](auto& r) { return r.wait_until(brief_deadline()); });
    in.add_async("async_wait", [](auto& r, auto done) { r.async_wait({}, done); });
    in.add("wait_async", [](auto& r) { return r.wait_async(briefly); });
}

leader_options anybody() {
    return {.id = "other"};
}

leader_selector::work nothing() {
    return [](const leadership&, const std::stop_token&) {};
}

}  // namespace

void add_rows_of_leaders(fork_rows& rows) {
    const auto make_latch = [](world& w) {
        return std::make_shared<leader_latch>(w.c, "/other", anybody());
    };
    const auto make_selector = [](world& w) {
        return std::make_shared<leader_selector>(w.c, "/other", anybody(), nothing());
    };
    rows_of in_latch(rows, "leader_latch", [](world& w) -> leader_latch& { return w.latch; });
    add_wait_forms(in_latch);
    in_latch.add("start", [](auto& l) { l.start(); });
    in_latch.add("is_leader", [](auto& l) { return l.is_leader(); });
    in_latch.add("term", [](auto& l) { return l.term(); });
    in_latch.add("on_change", [](auto& l) { return l.on_change({.chosen = [] {}}); });
    in_latch.add("resign", [](auto& l) { l.resign(); });
    in_latch.add("transfer_to", [](auto& l) { return l.transfer_to("nobody", briefly); });
    in_latch.add_async("async_transfer_to",
                       [](auto& l, auto done) { l.async_transfer_to("nobody", briefly, done); });
    in_latch.add("transfer_to_async",
                 [](auto& l) { return l.transfer_to_async("nobody", briefly); });
    in_latch.add("path", [](auto& l) { return l.path(); });
    in_latch.add("id", [](auto& l) { return l.id(); });
    in_latch.add(
        "close",
        [](auto& l) { l.close(leader_latch::closing::notifying); },
        [make_latch](world& w) {
            const auto made = make_latch(w);
            made->start();
            made->close();
        });
    in_latch.add_life(make_latch);

    rows_of at_path(rows, "leader_latch", [](world& w) -> client& { return w.c; });
    at_path.add("request_resignation",
                [](auto& c) { return leader_latch::request_resignation(c, "/leader"); });
    rows_of seen(rows, "leader_observer", [](world& w) -> client& { return w.c; });
    seen.add("leader", [](auto& c) { return leader_observer::leader(c, "/leader"); });
    seen.add("participants", [](auto& c) { return leader_observer::participants(c, "/leader"); });
    rows_of seeing(
        rows, "leader_observer", [](world & w) -> auto& { return w.seeing; });
    seeing.add("on_change", [](auto& o) { return o.on_change([](const auto&) {}); });
    seeing.add("current", [](auto& o) { return o.current(); });
    seeing.add("path", [](auto& o) { return o.path(); });
    seeing.add_life([](world& w) { return std::make_shared<leader_observer>(w.c, "/leader"); });

    rows_of selector(
        rows, "leader_selector", [](world & w) -> auto& { return w.selector; });
    selector.add("start", [](auto& s) { s.start(); });
    selector.add("interrupt", [](auto& s) { s.interrupt(); });
    selector.add("status", [](auto& s) { return s.status(); });
    selector.add("is_leader", [](auto& s) { return s.is_leader(); });
    selector.add("term", [](auto& s) { return s.term(); });
    selector.add("path", [](auto& s) { return s.path(); });
    selector.add("id", [](auto& s) { return s.id(); });
    selector.add(
        "close_for",
        [](auto& s) { return s.close_for(briefly); },
        [=](world& w) { static_cast<void>(make_selector(w)->close_for(briefly)); });
    selector.add(
        "close", [](auto& s) { s.close(); }, [=](world& w) { make_selector(w)->close(); });
    selector.add_life(make_selector);
}

void add_rows_of_meetings(fork_rows& rows) {
    rows_of wall(rows, "barrier", [](world& w) -> barrier& { return w.wall; });
    add_wait_forms(wall);
    wall.add("set", [](auto& b) {
        b.set();
        b.remove();
    });
    wall.add("remove", [](auto& b) { b.remove(); });
    wall.add("path", [](auto& b) { return b.path(); });
    wall.add_life([](world& w) { return std::make_shared<barrier>(w.c, "/barrier"); });

    const auto enter_and_leave = [](world& w) {
        if (w.rounds.enter()) {
            static_cast<void>(w.rounds.leave());
        }
    };
    rows_of in_rounds(
        rows, "double_barrier", [](world & w) -> auto& { return w.rounds; });
    const auto round = [&](const char* member, auto call) {
        in_rounds.add(member, call, enter_and_leave);
    };
    round("enter", [](auto& b) { return b.enter(); });
    round("enter_for", [](auto& b) { return b.enter_for(briefly); });
    round("enter_until", [](auto& b) { return b.enter_until(std::chrono::steady_clock::now()); });
    round("leave", [](auto& b) { return b.leave(); });
    round("leave_for", [](auto& b) { return b.leave_for(briefly); });
    round("leave_until", [](auto& b) { return b.leave_until(std::chrono::steady_clock::now()); });
    round("async_enter", [](auto& b) { b.async_enter({}, [](auto, bool) {}); });
    round("async_leave", [](auto& b) { b.async_leave({}, [](auto, bool) {}); });
    round("enter_async", [](auto& b) { return b.enter_async(); });
    round("leave_async", [](auto& b) { return b.leave_async(); });
    round("inside", [](auto& b) { return b.inside(); });
    round("path", [](auto& b) { return b.path(); });
    rows.push_back({.member = "double_barrier::double_barrier",
                    .call = [](world& w) { const double_barrier made(w.c, "/rounds", 1); },
                    .busy = enter_and_leave});
    rows.push_back({.member = "double_barrier::~double_barrier",
                    .call = [](world& w) { std::destroy_at(&w.rounds); },
                    .busy = enter_and_leave,
                    .costly = true});

    rows_of members(rows, "group", [](world& w) -> group& { return w.members; });
    members.add("join", [](auto& g) { return g.join("new"); });
    members.add("join_for", [](auto& g) { return g.join_for("new", briefly); });
    members.add_async("async_join", [](auto& g, auto done) { g.async_join("new", {}, done); });
    members.add("join_async", [](auto& g) { return g.join_async("new"); });
    members.add("members", [](auto& g) { return g.members(); });
    members.add("on_change", [](auto& g) { return g.on_change([](const auto&) {}); });
    members.add("path", [](auto& g) { return g.path(); });
    members.add_life([](world& w) { return std::make_shared<group>(w.c, "/group"); });

    rows_of member(rows, "membership", [](world& w) -> membership& { return w.me; });
    member.add("operator bool", [](auto& m) { return static_cast<bool>(m); });
    member.add("present", [](auto& m) { return m.present(); });
    member.add("name", [](auto& m) { return m.name(); });
    member.add("set_data", [](auto& m) { m.set_data("data"); });
    member.add("operator=", [](auto& m) {
        membership other = std::move(m);
        m = std::move(other);
    });
    member.add(
        "leave", [](auto& m) { m.leave(); }, [](world& w) { w.members.join("new").leave(); });
}

}  // namespace latchkey::test
