#include <latchkey/ensemble.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/mutex.hpp>

#include "client/client_core.hpp"
#include "eventually.hpp"
#include "listening_observer.hpp"
#include "recipe_forms.hpp"
#include "unreachable_calls.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

struct witnesses {
    explicit witnesses(loop& l) : on(l) {}

    loop& on;
    std::atomic<int> made{0};
    std::atomic<int> alive{0};
    std::atomic<int> ended_on_the_loop{0};
};

/// What the user's function has captured. Its copies, but not what they are moved from, are
/// witnesses of the thread that destroys them.
class witness {
public:
    explicit witness(witnesses& all) : all_(&all) { begin(); }

    witness(const witness& other) : all_(other.all_) { begin(); }

    witness(witness&& other) noexcept : all_(std::exchange(other.all_, nullptr)) {}

    witness& operator=(const witness&) = delete;

    ~witness() {
        if (all_ != nullptr) {
            all_->ended_on_the_loop += all_->on.on_loop() ? 1 : 0;
            --all_->alive;
        }
    }

private:
    void begin() {
        if (all_ != nullptr) {
            ++all_->made;
            ++all_->alive;
        }
    }

    witnesses* all_;
};

/// What a form of call needs besides its witness.
struct stage {
    ensemble& servers;
    client& c;
    client& other;  ///< may be in the way
    bool waits;     ///< it is to wait until it is stopped
    std::stop_token stop;
    std::vector<std::shared_ptr<void>> objects;

    template <class T, class... Args>
    T& make(Args&&... args) {
        auto made = std::make_shared<T>(std::forward<Args>(args)...);
        objects.push_back(made);
        return *made;
    }

    /// Keeps it as long as the objects.
    template <class T>
    T& keep(T value) {
        return make<T>(std::move(value));
    }
};

/// One asynchronous call, or one registration, whose function captures the witness.
struct form {
    std::string name;
    std::function<void(stage&, const witness&)> begin;
};

std::ostream& operator<<(std::ostream& out, const form& f) {
    return out << f.name;
}

/// One call of each recipe, whose handler captures it.
form call_of(const timed_recipe& recipe) {
    return {recipe.name, [recipe](stage& s, const witness& w) {
                auto& call = s.keep(recipe.make(s.servers, s.c));
                call.prepare();
                if (s.waits) {
                    call.occupy();
                }
                call.begin(for_ever, s.stop, [w](std::error_code, bool) {});
            }};
}

std::vector<form> forms() {
    std::vector<form> all{
        {"Reserved",
         [](stage& s, const witness& w) {
             s.make<mutex>(s.c, "/lock")
                 .async_acquire({.stop = s.stop, .reserved = [w](const queue_position&) {}},
                                [](std::error_code, const hold&) {});
         }},
        {"Transaction",
         [](stage& s, const witness& w) {
             auto& h = s.make<hold>(s.make<mutex>(s.c, "/lock").acquire());
             h.async_transact({operation::create("/effect")}, [w](std::error_code, const auto&) {});
             h.async_transact({}, [w](std::error_code, const auto&) {});
             h.async_transact({operation::remove("/missing")},
                              [w](std::error_code, const auto&) {});
             h.async_transact_once(
                 "/marker", {operation::check("/lock")}, [w](std::error_code, bool) {});
             h.async_transact_once("no path", {}, [w](std::error_code, bool) {});
             h.release();
         }},
        {"Reading",
         [](stage& s, const witness& w) {
             s.c.async_children("no path", read_from::quorum, [w](auto, const auto&) {});
         }},
        {"GroupListener",
         [](stage& s, const witness& w) {
             s.keep(s.make<group>(s.c, "/group").on_change([w](const auto&) {}));
         }},
        {"LeaderLatch",
         [](stage& s, const witness& w) {
             if (s.waits) {
                 s.keep(s.make<leader_latch>(s.other, "/leader").wait());
             }
             auto& l = s.make<leader_latch>(s.c, "/leader");
             s.keep(l.on_change({.elected = [w](const leadership&) {},
                                 .lost = [w](const leadership&, loss_reason) {},
                                 .refused = [w](const error&) {},
                                 .chosen = [w] {}}));
             l.async_wait(for_ever, s.stop, [w](std::error_code, const leadership& term) {
                 if (term) {
                     term.async_proclaim("here", [w](std::error_code) {});
                 }
             });
         }},
        {"Transfer",
         [](stage& s, const witness& w) {
             auto& l = s.make<leader_latch>(
                 s.c, "/leader", leader_options{.preference = leader_preference{}});
             static_cast<void>(l.wait());
             l.async_transfer_to("nobody", 50ms, [w](std::error_code, leader_latch::transfer) {});
         }},
        {"LeaderSelector",
         [](stage& s, const witness& w) {
             if (s.waits) {
                 s.keep(s.make<mutex>(s.other, "/leader").acquire());
             }
             s.make<leader_selector>(
                  s.c,
                  "/leader",
                  leader_options{},
                  [w](const leadership&, const std::stop_token&) { throw w; },
                  selector_options{.failed = [w](const std::exception_ptr&) {}})
                 .start();
         }},
        {"LeaderObserver",
         [](stage& s, const witness& w) {
             s.make<listening_observer>(s.c, "/leader", [w](const std::optional<leader_info>&) {});
         }},
        {"Listener",
         [](stage& s, const witness& w) { s.keep(s.c.on_change([w](connection_state) {})); }}};
    for (const auto& some : {timed_from_the_start(), timed_requests(), timed_once_inside()}) {
        for (const timed_recipe& recipe : some) {
            if (!recipe.name.starts_with("barrier_")) {  // those are steps of calls that block
                all.push_back(call_of(recipe));
            }
        }
    }
    return all;
}

using ending = std::string;

class CapturesOf : public ::testing::TestWithParam<std::tuple<form, ending>> {};

INSTANTIATE_TEST_SUITE_P(
    A,
    CapturesOf,
    ::testing::Combine(
        ::testing::ValuesIn(forms()),
        ::testing::Values("Completed", "Refused", "Stopped", "Closed", "ConnectionLost")),
    [](const auto& p) { return std::get<form>(p.param).name + std::get<ending>(p.param); });

// A destructor of the user's that blocks would stop every client of the process.
TEST_P(CapturesOf, AreNeverDestroyedOnTheLoop) {
    const auto& [f, e] = GetParam();
    ensemble servers;
    client other = servers.connect({.session_timeout = 10s});
    client c = servers.connect({.session_timeout = 10s});
    ASSERT_TRUE(c.wait_connected(30s));
    const auto core = client_core::of(c);
    witnesses all(core->loop());
    {
        std::stop_source stop;
        stage s{.servers = servers,
                .c = c,
                .other = other,
                .waits = e != "Completed" && e != "Refused",
                .stop = stop.get_token(),
                .objects = {}};
        const witness w(all);
        f.begin(s, w);
        if (e == "Refused") {
            servers.refuse_next(ensemble::request_kind::any, -102, c.session_id(), 3);
        } else if (e == "ConnectionLost") {
            servers.cut(c.session_id());
        }
        if (e == "Stopped" || e == "ConnectionLost") {
            stop.request_stop();
        } else if (e == "Closed") {
            c.close();
        } else {
            // If it is not completed by then, it is closed: that is right, too.
            static_cast<void>(eventually([&] { return all.alive < 3; }, 200ms));
        }
    }
    c.close();
    EXPECT_TRUE(eventually([&] { return all.alive == 0; })) << all.alive;
    EXPECT_GT(all.made, 1);
    EXPECT_EQ(all.ended_on_the_loop, 0);
}

TEST(CapturesOfTheLog, AreDestroyedByTheCallbackThreadWhenTheClientIsClosed) {
    ensemble servers;
    client first = servers.connect();
    witnesses all(client_core::of(first)->loop());
    auto token = std::make_shared<int>(0);
    client c = servers.connect(
        {.session_timeout = 10s, .log = [w = witness(all), t = std::weak_ptr(token)](auto) {}});
    mutex m(c, "/lock");
    hold h = m.acquire();
    c.close();
    EXPECT_EQ(all.alive, 0) << "though a recipe and a hold remain";
    EXPECT_EQ(all.ended_on_the_loop, 0);
}

}  // namespace
}  // namespace latchkey::test
