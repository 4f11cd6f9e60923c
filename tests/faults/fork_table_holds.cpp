#include "fork_table.hpp"

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using world = forked_world;

/// Rows of what holds and terms have in common.
template <class Target>
void add_validity(fork_rows& rows, const std::string& name, Target of) {
    const auto add = [&](const char* member, auto call) {
        rows.push_back(
            {.member = name + "::" + member, .call = [call, of](world& w) { call(of(w), w); }});
    };
    const std::vector<operation> one{operation::set("/x", "1")};
    add("valid", [](auto& t, world&) { static_cast<void>(t.valid()); });
    add("operator bool", [](auto& t, world&) { static_cast<void>(static_cast<bool>(t)); });
    add("remaining", [](auto& t, world&) { static_cast<void>(t.remaining()); });
    add("valid_for", [](auto& t, world&) { static_cast<void>(t.valid_for(1s)); });
    add("at_risk", [](auto& t, world&) { static_cast<void>(t.at_risk(1s)); });
    add("valid_until", [](auto& t, world&) { static_cast<void>(t.valid_until()); });
    add("lost", [](auto& t, world&) { static_cast<void>(t.lost()); });
    add("why_lost", [](auto& t, world&) { static_cast<void>(t.why_lost()); });
    add("token", [](auto& t, world&) { static_cast<void>(t.token()); });
    add("path", [](auto& t, world&) { static_cast<void>(t.path()); });
    add("transact", [one](auto& t, world&) { t.transact(one); });
    add("transact_once", [one](auto& t, world&) { static_cast<void>(t.transact_once("/o", one)); });
    add("async_transact", [one](auto& t, world& w) {
        w.wait([&](auto done) { t.async_transact(one, [done](auto, const auto&) { done(); }); });
    });
    add("async_transact_once", [one](auto& t, world& w) {
        w.wait(
            [&](auto done) { t.async_transact_once("/o", one, [done](auto, bool) { done(); }); });
    });
    add("transact_async", [one](auto& t, world& w) { start_awaitable(w, t.transact_async(one)); });
    add("transact_once_async",
        [one](auto& t, world& w) { start_awaitable(w, t.transact_once_async("/o", one)); });
}

void acquire_and(world& w, const std::function<void(hold&)>& end) {
    hold h = w.busy_holding.acquire();
    end(h);
}

}  // namespace

void add_rows_of_holds(fork_rows& rows) {
    add_validity(rows, "hold", [](world& w) -> hold& { return w.h; });
    add_validity(rows, "leadership", [](world& w) -> leadership& { return w.term; });
    rows.insert(
        rows.end(),
        {{"hold::revocation_requested",
          [](world& w) { static_cast<void>(w.h.revocation_requested()); }},
         {"hold::paths", [](world& w) { static_cast<void>(w.h.paths()); }},
         {"hold::mode", [](world& w) { static_cast<void>(w.h.mode()); }},
         {"leadership::hand_over_requested",
          [](world& w) { static_cast<void>(w.term.hand_over_requested()); }},
         {"leadership::id", [](world& w) { static_cast<void>(w.term.id()); }},
         {"leadership::proclaim", [](world& w) { w.term.proclaim("here"); }},
         {"leadership::async_proclaim",
          [](world& w) {
              w.wait([&](auto done) { w.term.async_proclaim("here", [done](auto) { done(); }); });
          }},
         {"leadership::proclaim_async",
          [](world& w) { start_awaitable(w, w.term.proclaim_async("here")); }},
         {"leadership::operator=",
          [](world& w) {
              leadership other = w.term;
              other = w.term;
              w.term = std::move(other);
          }},
         {"guard::guard", [](world& w) { const guard another(w.free); }},
         {"guard::hold", [](world& w) { static_cast<void>(w.g->hold().valid()); }},
         {"guard::valid", [](world& w) { static_cast<void>(w.g->valid()); }},
         {"guard::token", [](world& w) { static_cast<void>(w.g->token()); }},
         {"guard::check", [](world& w) { w.g->check(); }},
         {"guard::on_loss", [](world& w) { w.g->on_loss([](loss_reason) {}); }},
         {"guard::~guard",
          [](world& w) { w.g.reset(); },
          [](world& w) { const guard another(w.free); }},
         {"hold::operator=",
          [](world& w) {
              hold other = std::move(w.h);
              w.h = std::move(other);
          }},
         {"hold::release_and_wait",
          [](world& w) { static_cast<void>(w.holding.acquire().release_and_wait()); },
          [](world& w) {
              acquire_and(w, [](hold& h) { static_cast<void>(h.release_and_wait()); });
          }},
         {"hold::release",
          [](world& w) { hold(std::move(w.h)).release(); },
          [](world& w) { acquire_and(w, [](hold& h) { h.release(); }); }},
         {"hold::~hold",
          [](world& w) { const hold ended = std::move(w.locked.held()); },
          [](world& w) { acquire_and(w, [](hold&) {}); }}});
}

}  // namespace latchkey::test
