#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>

#include "look_at.hpp"
#include "workers.hpp"

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

void add_latch(stage& s, std::size_t i) {
    s.add("leader_latch", [c = s.client_of(i), i](stage&, stage::turns& t) {
        leadership last;  // assigned by the listener while others use it
        leader_latch latch(
            c,
            "/leader",
            {.id = "l" + std::to_string(i), .data = {}, .preference = leader_preference{}});
        const auto listening =
            latch.on_change({.elected = [&](const leadership& term) { last = term; },
                             .lost = [&](const leadership&, loss_reason) { last = {}; }});
        latch.start();
        for (int n = 0; n < 10 && t.next(); ++n) {
            look_at(last);
            std::error_code ec;
            const leadership term = latch.wait_for(stress_patience / 5, ec);
            look_at(term);
            if (term && t.one_in(3)) {
                term.proclaim("here", ec);
            }
            if (t.one_in(4)) {
                static_cast<void>(latch.transfer_to("l1", 200ms, ec));
            }
        }
        latch.resign();
    });
}

void add_selector(stage& s, std::size_t i) {
    s.add("leader_selector", [c = s.client_of(i)](stage&, stage::turns& t) {
        leader_selector selector(c,
                                 "/selected",
                                 {.id = "s"},
                                 [&](const leadership& term, const std::stop_token& stop) {
                                     const std::stop_callback on_stop(stop, [&] { look_at(term); });
                                     look_at(term);
                                 },
                                 {.failed = [](const std::exception_ptr&) {}});
        selector.start();
        t.pause(200);
        look_at(selector.term());
        if (t.one_in(2)) {
            selector.interrupt();
        }
    });
}

void add_observer(stage& s) {
    s.add("leader_observer", [c = s.client_of(1)](stage&, stage::turns& t) {
        leader_observer seeing(c, "/leader");
        const auto listening = seeing.on_change([](const std::optional<leader_info>&) {});
        t.pause(100);
        static_cast<void>(seeing.current());
    });
}

void add_member(stage& s, std::size_t i) {
    s.add("group", [c = s.client_of(i), i](stage&, stage::turns&) {
        group all(c, "/group", {.access = {}, .coalesce_for = 20ms});
        std::error_code ec;
        membership me = all.join_for("m" + std::to_string(i), stress_patience, {}, ec);
        const auto listening = all.on_change([&](const std::vector<group_member>&) {
            static_cast<void>(me.present());  // while it is left
            static_cast<void>(me.name());
        });
        if (me) {
            me.set_data("data");
        }
        static_cast<void>(all.members(ec));
        me.leave();
    });
}

void add_barriers(stage& s) {
    s.add("barrier", [c = s.client_of(0)](stage&, stage::turns&) {
        barrier b(c, "/barrier");
        std::error_code ec;
        b.set(ec);
        b.remove(ec);
    });
    s.add("barrier_waiter", [c = s.client_of(1)](stage&, stage::turns&) {
        barrier b(c, "/barrier");
        std::error_code ec;
        static_cast<void>(b.wait_for(stress_patience, {}, ec));
    });
    for (std::size_t i = 2; i < 4; ++i) {
        s.add("double_barrier", [c = s.client_of(i)](stage&, stage::turns& t) {
            double_barrier b(c, "/rounds", 2);
            std::error_code ec;
            if (b.enter_for(stress_patience, {}, ec)) {
                static_cast<void>(b.inside());
                static_cast<void>(b.leave_for(stress_patience, {}, ec));
            } else {
                t.pause(5);
            }
        });
    }
}

}  // namespace

void add_meeting_workers(stage& s) {
    add_latch(s, 0);
    add_latch(s, 1);
    add_selector(s, 2);
    add_selector(s, 3);
    add_observer(s);
    add_member(s, 0);
    add_member(s, 3);
    add_barriers(s);
}

}  // namespace latchkey::test
