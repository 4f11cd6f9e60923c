#include "fork_table.hpp"

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using world = forked_world;

constexpr auto briefly = 10ms;

/// Rows of wait_forms.
template <class Of>
void add_wait_forms(fork_rows& rows, const std::string& name, Of of) {
    const auto add = [&](const char* member, auto call) {
        rows.push_back(
            {.member = name + "::" + member, .call = [call, of](world& w) { call(of(w), w); }});
    };
    add("wait", [](auto& r, world&) { static_cast<void>(r.wait()); });
    add("wait_for", [](auto& r, world&) { static_cast<void>(r.wait_for(briefly)); });
    add("wait_until", [](auto& r, world&) {
        static_cast<void>(r.wait_until(std::chrono::steady_clock::now() + briefly));
    });
    add("async_wait", [](auto& r, world& w) {
        w.wait([&](auto done) { r.async_wait({}, [done](auto, const auto&) { done(); }); });
    });
    add("wait_async", [](auto& r, world& w) { start_awaitable(w, r.wait_async(briefly)); });
}

leader_options anybody() {
    return {.id = "other"};
}

leader_selector::work nothing() {
    return [](const leadership&, const std::stop_token&) {};
}

}  // namespace

void add_rows_of_leaders(fork_rows& rows) {
    add_wait_forms(rows, "leader_latch", [](world& w) -> leader_latch& { return w.latch; });
    rows.insert(
        rows.end(),
        {{"leader_latch::leader_latch",
          [](world& w) { const leader_latch made(w.c, "/other", anybody()); }},
         {"leader_latch::start", [](world& w) { w.latch.start(); }},
         {"leader_latch::is_leader", [](world& w) { static_cast<void>(w.latch.is_leader()); }},
         {"leader_latch::term", [](world& w) { static_cast<void>(w.latch.term()); }},
         {"leader_latch::on_change",
          [](world& w) { const auto listening = w.latch.on_change({.chosen = [] {}}); }},
         {"leader_latch::resign", [](world& w) { w.latch.resign(); }},
         {"leader_latch::transfer_to",
          [](world& w) { static_cast<void>(w.latch.transfer_to("nobody", briefly)); }},
         {"leader_latch::async_transfer_to",
          [](world& w) {
              w.wait([&](auto done) {
                  w.latch.async_transfer_to("nobody", briefly, [done](auto, auto) { done(); });
              });
          }},
         {"leader_latch::transfer_to_async",
          [](world& w) { start_awaitable(w, w.latch.transfer_to_async("nobody", briefly)); }},
         {"leader_latch::request_resignation",
          [](world& w) { static_cast<void>(leader_latch::request_resignation(w.c, "/leader")); }},
         {"leader_latch::path", [](world& w) { static_cast<void>(w.latch.path()); }},
         {"leader_latch::id", [](world& w) { static_cast<void>(w.latch.id()); }},
         {"leader_latch::close",
          [](world& w) { w.latch.close(leader_latch::closing::notifying); },
          [](world& w) {
              leader_latch made(w.c, "/other", anybody());
              made.start();
              made.close();
          }},
         {.member = "leader_latch::~leader_latch",
          .call = [](world& w) { std::destroy_at(&w.latch); },
          .busy = [](world& w) { const leader_latch made(w.c, "/other", anybody()); },
          .costly = true},
         {"leader_observer::leader_observer",
          [](world& w) { const leader_observer made(w.c, "/leader"); }},
         {"leader_observer::on_change",
          [](world& w) { const auto listening = w.seeing.on_change([](const auto&) {}); }},
         {"leader_observer::current", [](world& w) { static_cast<void>(w.seeing.current()); }},
         {"leader_observer::path", [](world& w) { static_cast<void>(w.seeing.path()); }},
         {"leader_observer::leader",
          [](world& w) { static_cast<void>(leader_observer::leader(w.c, "/leader")); }},
         {"leader_observer::participants",
          [](world& w) { static_cast<void>(leader_observer::participants(w.c, "/leader")); }},
         {.member = "leader_observer::~leader_observer",
          .call = [](world& w) { std::destroy_at(&w.seeing); },
          .busy = [](world& w) { const leader_observer made(w.c, "/leader"); },
          .costly = true},
         {"leader_selector::leader_selector",
          [](world& w) { const leader_selector made(w.c, "/other", anybody(), nothing()); }},
         {"leader_selector::start", [](world& w) { w.selector.start(); }},
         {"leader_selector::interrupt", [](world& w) { w.selector.interrupt(); }},
         {"leader_selector::status", [](world& w) { static_cast<void>(w.selector.status()); }},
         {"leader_selector::is_leader",
          [](world& w) { static_cast<void>(w.selector.is_leader()); }},
         {"leader_selector::term", [](world& w) { static_cast<void>(w.selector.term()); }},
         {"leader_selector::path", [](world& w) { static_cast<void>(w.selector.path()); }},
         {"leader_selector::id", [](world& w) { static_cast<void>(w.selector.id()); }},
         {"leader_selector::close_for",
          [](world& w) { static_cast<void>(w.selector.close_for(briefly)); },
          [](world& w) {
              leader_selector made(w.c, "/other", anybody(), nothing());
              static_cast<void>(made.close_for(briefly));
          }},
         {"leader_selector::close",
          [](world& w) { w.selector.close(); },
          [](world& w) { leader_selector(w.c, "/other", anybody(), nothing()).close(); }},
         {.member = "leader_selector::~leader_selector",
          .call = [](world& w) { std::destroy_at(&w.selector); },
          .busy = [](world& w) { const leader_selector made(w.c, "/other", anybody(), nothing()); },
          .costly = true}});
}

void add_rows_of_meetings(fork_rows& rows) {
    add_wait_forms(rows, "barrier", [](world& w) -> barrier& { return w.wall; });
    const auto enter_and_leave = [](world& w) {
        if (w.rounds.enter()) {
            static_cast<void>(w.rounds.leave());
        }
    };
    const auto round = [&](const char* member, auto call) {
        rows.push_back({.member = std::string("double_barrier::") + member,
                        .call = call,
                        .busy = enter_and_leave});
    };
    round("double_barrier", [](world& w) { const double_barrier made(w.c, "/rounds", 1); });
    round("enter", [](world& w) { static_cast<void>(w.rounds.enter()); });
    round("enter_for", [](world& w) { static_cast<void>(w.rounds.enter_for(briefly)); });
    round("enter_until", [](world& w) {
        static_cast<void>(w.rounds.enter_until(std::chrono::steady_clock::now()));
    });
    round("leave", [](world& w) { static_cast<void>(w.rounds.leave()); });
    round("leave_for", [](world& w) { static_cast<void>(w.rounds.leave_for(briefly)); });
    round("leave_until", [](world& w) {
        static_cast<void>(w.rounds.leave_until(std::chrono::steady_clock::now()));
    });
    round("async_enter", [](world& w) { w.rounds.async_enter({}, [](auto, bool) {}); });
    round("async_leave", [](world& w) { w.rounds.async_leave({}, [](auto, bool) {}); });
    round("enter_async", [](world& w) { start_awaitable(w, w.rounds.enter_async()); });
    round("leave_async", [](world& w) { start_awaitable(w, w.rounds.leave_async()); });
    round("inside", [](world& w) { static_cast<void>(w.rounds.inside()); });
    round("path", [](world& w) { static_cast<void>(w.rounds.path()); });
    rows.insert(
        rows.end(),
        {{.member = "double_barrier::~double_barrier",
          .call = [](world& w) { std::destroy_at(&w.rounds); },
          .busy = enter_and_leave,
          .costly = true},
         {"barrier::barrier", [](world& w) { const barrier made(w.c, "/barrier"); }},
         {"barrier::set",
          [](world& w) {
              w.wall.set();
              w.wall.remove();
          }},
         {"barrier::remove", [](world& w) { w.wall.remove(); }},
         {"barrier::path", [](world& w) { static_cast<void>(w.wall.path()); }},
         {.member = "barrier::~barrier",
          .call = [](world& w) { std::destroy_at(&w.wall); },
          .busy = [](world& w) { const barrier made(w.c, "/barrier"); },
          .costly = true},
         {"group::group", [](world& w) { const group made(w.c, "/group"); }},
         {"group::join", [](world& w) { static_cast<void>(w.members.join("new")); }},
         {"group::join_for",
          [](world& w) { static_cast<void>(w.members.join_for("new", briefly)); }},
         {"group::async_join",
          [](world& w) {
              w.wait([&](auto done) {
                  w.members.async_join("new", {}, [done](auto, const auto&) { done(); });
              });
          }},
         {"group::join_async", [](world& w) { start_awaitable(w, w.members.join_async("new")); }},
         {"group::members", [](world& w) { static_cast<void>(w.members.members()); }},
         {"group::on_change",
          [](world& w) { const auto listening = w.members.on_change([](const auto&) {}); }},
         {"group::path", [](world& w) { static_cast<void>(w.members.path()); }},
         {.member = "group::~group",
          .call = [](world& w) { std::destroy_at(&w.members); },
          .busy = [](world& w) { const group made(w.c, "/group"); },
          .costly = true},
         {"membership::operator bool",
          [](world& w) { static_cast<void>(static_cast<bool>(w.me)); }},
         {"membership::present", [](world& w) { static_cast<void>(w.me.present()); }},
         {"membership::name", [](world& w) { static_cast<void>(w.me.name()); }},
         {"membership::set_data", [](world& w) { w.me.set_data("data"); }},
         {"membership::operator=",
          [](world& w) {
              membership other = std::move(w.me);
              w.me = std::move(other);
          }},
         {"membership::leave",
          [](world& w) { w.me.leave(); },
          [](world& w) { w.members.join("new").leave(); }}});
}

}  // namespace latchkey::test
