#include "fork_table.hpp"

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using world = forked_world;

/// Rows of what holds and terms have in common.
template <class Of>
void add_validity(rows_of<Of>& in) {
    const std::vector<operation> one{operation::set("/x", "1")};
    in.add("valid", [](auto& t) { return t.valid(); });
    in.add("operator bool", [](auto& t) { return static_cast<bool>(t); });
    in.add("remaining", [](auto& t) { return t.remaining(); });
    in.add("valid_for", [](auto& t) { return t.valid_for(1s); });
    in.add("at_risk", [](auto& t) { return t.at_risk(1s); });
    in.add("valid_until", [](auto& t) { return t.valid_until(); });
    in.add("lost", [](auto& t) { return t.lost(); });
    in.add("why_lost", [](auto& t) { return t.why_lost(); });
    in.add("token", [](auto& t) { return t.token(); });
    in.add("path", [](auto& t) { return t.path(); });
    in.add("transact", [one](auto& t) { return t.transact(one); });
    in.add("transact_once", [one](auto& t) { return t.transact_once("/o", one); });
    in.add_async("async_transact", [one](auto& t, auto done) { t.async_transact(one, done); });
    in.add_async("async_transact_once",
                 [one](auto& t, auto done) { t.async_transact_once("/o", one, done); });
    in.add("transact_async", [one](auto& t) { return t.transact_async(one); });
    in.add("transact_once_async", [one](auto& t) { return t.transact_once_async("/o", one); });
}

}  // namespace

void add_rows_of_holds(fork_rows& rows) {
    rows_of of_hold(rows, "hold", [](world& w) -> hold& { return w.h; });
    add_validity(of_hold);
    of_hold.add("revocation_requested", [](auto& h) { return h.revocation_requested(); });
    of_hold.add("paths", [](auto& h) { return h.paths(); });
    of_hold.add("mode", [](auto& h) { return h.mode(); });
    of_hold.add("operator=", [](auto& h) {
        hold other = std::move(h);
        h = std::move(other);
    });
    of_hold.add(
        "release",
        [](auto& h) { hold(std::move(h)).release(); },
        [](world& w) { w.busy_holding.acquire().release(); });
    const auto release_and_wait = [](mutex& m) { return m.acquire().release_and_wait(); };
    rows_of ended(
        rows, "hold", [](world & w) -> auto& { return w; });
    ended.add(
        "release_and_wait",
        [=](auto& w) { return release_and_wait(w.holding); },
        [=](world& w) { static_cast<void>(release_and_wait(w.busy_holding)); });
    ended.add(
        "~hold",
        [](auto& w) { const hold last = std::move(w.locked.held()); },
        [](world& w) { const hold last = w.busy_holding.acquire(); });

    rows_of term(rows, "leadership", [](world& w) -> leadership& { return w.term; });
    add_validity(term);
    term.add("hand_over_requested", [](auto& t) { return t.hand_over_requested(); });
    term.add("id", [](auto& t) { return t.id(); });
    term.add("proclaim", [](auto& t) { t.proclaim("here"); });
    term.add_async("async_proclaim", [](auto& t, auto done) { t.async_proclaim("here", done); });
    term.add("proclaim_async", [](auto& t) { return t.proclaim_async("here"); });
    term.add("operator=", [](auto& t) {
        leadership other = t;
        other = t;
        t = std::move(other);
    });

    const auto another = [](world& w) { const guard made(w.free); };
    rows_of guarded(
        rows, "guard", [](world & w) -> auto& { return w.g; });
    rows.push_back({"guard::guard", another});
    guarded.add("hold", [](auto& g) { return g->hold().valid(); });
    guarded.add("valid", [](auto& g) { return g->valid(); });
    guarded.add("token", [](auto& g) { return g->token(); });
    guarded.add("check", [](auto& g) { g->check(); });
    guarded.add("on_loss", [](auto& g) { g->on_loss([](loss_reason) {}); });
    guarded.add(
        "~guard", [](auto& g) { g.reset(); }, another);
}

}  // namespace latchkey::test
