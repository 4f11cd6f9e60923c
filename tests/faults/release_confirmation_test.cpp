// What release_and_wait() says: true only if the servers have confirmed that the znodes of the hold
// are gone, in each state of the hold.
#include "any_lock.hpp"
#include "eventually.hpp"
#include "every_step.hpp"
#include "hold/guarded_transaction.hpp"
#include "hold/hold_state.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

/// A hold, on its way through what befalls it.
struct released_hold {
    client of;
    std::optional<any_lock> object{};
    hold h{};
    bool is_there = false;  ///< it may be released
    bool is_released = false;
    int answers = 0;
    bool confirmed = false;
    int effects = 0;  ///< then
};

/// Of a writer that becomes a reader as soon as it holds.
any_lock downgrading(client& c) {
    const auto m = std::make_shared<shared_mutex>(c, "/lock", lock_options{.max_hold = 4s});
    any_lock lock = any_lock_of(m, lock_mode::exclusive);
    lock.async = [m](const acquire_options& o, const grant_handler& done) {
        m->async_acquire(lock_mode::exclusive, o, [m = m.get(), done](std::error_code, hold h) {
            m->async_convert(std::move(h), lock_mode::shared, {}, done);
        });
    };
    return lock;
}

const auto every_hold = ::testing::Values(
    lock_at<mutex>("mutex", "/lock", {}),
    lock_at<mutex>("kept", "/lock", {.local_passes = 2, .retain_for = 5s}),
    lock_at<mutex>("limited", "/lock", {.max_hold = 2s}),
    lock_at<mutex>("held_longer", "/lock", {.max_hold = 3s, .min_hold = 2s}),
    lock_at<mutex>("delayed", "/lock", {.lock_delay = 1s}),
    lock_at<shared_mutex>("upgrader", "/lock", {}, lock_mode::upgrade),
    lock_at<shared_mutex>("reader", "/lock", {}, lock_mode::shared),
    lock_at<shared_mutex>(
        "kept_writer", "/lock", {.local_passes = 2, .retain_for = 5s}, lock_mode::exclusive),
    kind_of_lock{"downgraded", downgrading},
    multi_mutex_at({"/lock", "/lock-beside"}, {.max_hold = 2s}),
    permits_at<semaphore>("semaphore", "/lock", {}, 2, 3),
    permits_at<semaphore>("limited_semaphore", "/lock", {.max_hold = 2s}, 2, 3),
    permits_at<curator_semaphore>("curator_semaphore", "/lock", {}, 2, 3));

struct release_mishap {
    std::string name;
    std::function<void(testing::ensemble&, released_hold&)> happens;
};

const std::vector<release_mishap> release_mishaps{
    {"nothing", [](auto&, auto&) {}},
    {"close", [](auto&, auto& r) { r.of.close(); }},
    {"close without servers",
     [](auto& servers, auto& r) {
         servers.black_hole(r.of.session_id());
         r.of.close();
     }},
    {"the servers stall",
     [](auto& servers, auto&) {
         servers.pause_server((servers.leader() + 1) % 3);
         servers.pause_server(servers.leader());
     }},
    {"the servers stall, and close",
     [](auto& servers, auto& r) {
         servers.pause_server(servers.leader());
         r.of.close();
     }},
    {"the connection breaks", [](auto& servers, auto& r) { servers.cut(r.of.session_id()); }},
    {"no connection", [](auto& servers, auto& r) { servers.suspend(r.of.session_id()); }},
    {"the session ends", [](auto& servers, auto& r) { servers.expire(r.of.session_id()); }},
    {"another session",
     [](auto& servers, auto& r) {
         servers.replace(r.of.session_id());
         servers.cut(r.of.session_id());
     }},
    {"break_hold",
     [](auto& servers, auto& r) {
         if (const std::string path = r.h.path(); servers.exists(path)) {
             servers.remove(path);
         }
     }},
};

class ReleaseConfirmation : public SteppedTest, public ::testing::WithParamInterface<kind_of_lock> {
protected:
    ReleaseConfirmation() { ensemble_.create("/effect"); }

    /// The znodes of participants and permits whose names begin so.
    [[nodiscard]] std::size_t znodes(const std::string& prefix = "_c_") const {
        std::size_t found = 0;
        for (const char* const directory : {"/lock",
                                            "/lock-beside",
                                            "/lock/queue",
                                            "/lock/permits",
                                            "/lock/locks",
                                            "/lock/leases"}) {
            for (const std::string& name : ensemble_.children(directory)) {
                found += name.starts_with(prefix) ? 1 : 0;
            }
        }
        return found;
    }

    [[nodiscard]] int effects() const { return ensemble_.get("/effect")->version; }

    std::shared_ptr<released_hold> begin() {
        const auto r = std::make_shared<released_hold>(
            released_hold{.of = connected({.session_timeout = 6s, .close_timeout = 500ms})});
        r->object = GetParam().make(r->of);
        r->object->async({}, [r](std::error_code, hold h) {
            r->h = std::move(h);
            r->is_there = true;
        });
        return r;
    }

    /// A transaction of the hold is on its way when it is released.
    void release(const std::shared_ptr<released_hold>& r) {
        if (!ensemble_.run_until([&] { return r->is_there; }, 3s) || is_empty(r->h)) {
            return;  // the servers do not grant it any more
        }
        r->is_released = true;
        ++releases_;
        const auto state = hold_state::of(r->h);
        transact_and_tell(
            state, {operation::set("/effect", "of the holder")}, [](auto, const auto&) {});
        // Whatever mode it is converted to: its znodes have one GUID in their names.
        const std::string path = r->h.path();
        const std::string own = path.substr(path.rfind('/') + 1, sizeof("_c_") - 1 + 36);
        state->release([this, raw = r.get(), own](auto... said) {
            ++raw->answers;
            raw->confirmed = (true && ... && said);
            raw->effects = effects();
            EXPECT_FALSE(raw->confirmed && znodes(own) > 0) << "it is there";
        });
    }

    void end(const std::shared_ptr<released_hold>& r) {
        ensemble_.run_for(10s);  // longer than anything lasts
        ensemble_.resume(r->of.session_id());
        for (int i = 0; i < 3; ++i) {
            ensemble_.resume_server(i);
        }
        ensemble_.run_for(3s);
        if (r->is_released) {
            EXPECT_EQ(r->answers, 1);
            EXPECT_TRUE(!r->confirmed || effects() == r->effects) << "applied afterwards";
        }
        r->of.close();
        EXPECT_TRUE(ensemble_.run_until([&] { return znodes() == 0; }, 30s));
        r->h = hold();
        r->object.reset();
    }

    /// Most of the stretch is waiting, so it is looked at in few rounds.
    template <class Before, class After>
    void at_every_step_of_each_mishap(Before before, After after) {
        for (const release_mishap& m : release_mishaps) {
            SCOPED_TRACE(m.name);
            at_every_step(
                {ensemble_, 12 * one_way, one_way / 2},
                [&] {
                    auto r = begin();
                    before(r);
                    return r;
                },
                [&](const auto& r) {
                    m.happens(ensemble_, *r);
                    after(r);
                },
                [&](const auto& r) { end(r); });
        }
        EXPECT_GT(releases_, 100);
    }

    int releases_ = 0;
};

TEST_P(ReleaseConfirmation, IsGivenOnlyForZnodesThatAreGoneWhateverHappensMeanwhile) {
    at_every_step_of_each_mishap(
        [&](const auto& r) {
            EXPECT_TRUE(ensemble_.run_until([&] { return r->is_there; }, 10s));
            release(r);
        },
        [](const auto&) {});
}

TEST_P(ReleaseConfirmation, IsGivenOnlyForZnodesThatAreGoneWhateverHappenedBefore) {
    at_every_step_of_each_mishap(
        [&](const auto&) { ensemble_.run_until([&] { return znodes() > 0; }, 10s); },
        [&](const auto& r) {
            for (const auto later : {0ms, 1ms, 700ms, 3000ms}) {
                ensemble_.run_for(later);
                if (r->is_there && !r->is_released) {
                    break;
                }
            }
            release(r);
        });
}

/// max_hold has passed, and what it did is not answered.
TEST_P(ReleaseConfirmation, IsGivenOnlyForZnodesThatAreGoneAfterAnyTime) {
    for (const auto wait : {500ms, 1990ms, 2001ms, 2500ms, 3500ms, 5000ms}) {
        for (const bool stalls : {false, true}) {
            const auto r = begin();
            ASSERT_TRUE(ensemble_.run_until([&] { return r->is_there; }, 10s));
            if (stalls) {
                ensemble_.run_for(1s);
                release_mishaps[3].happens(ensemble_, *r);
            }
            ensemble_.run_for(wait);
            release(r);
            end(r);
        }
    }
}

/// As programs call it, on threads.
class ReleaseAndWait : public ::testing::Test {
protected:
    ReleaseAndWait() { servers_.create("/x", "before"); }

    /// A transaction that the leader, which does not run from now on, does not answer.
    void begin_transaction() {
        leader_ = servers_.leader();
        servers_.pause_server(leader_);
        h_.async_transact({operation::set("/x", "after")}, [](std::error_code, const auto&) {});
    }

    void expect_not_confirmed() {
        const std::string path = h_.path();
        EXPECT_FALSE(h_.release_and_wait());
        EXPECT_TRUE(servers_.exists(path));
        servers_.resume_server(leader_);
    }

    testing::ensemble servers_;
    client c_ = servers_.connect({.session_timeout = 8s, .close_timeout = 300ms});
    mutex m_{c_, "/lock"};
    mutex limited_{c_, "/lock", {.max_hold = 500ms}};
    hold h_;
    int leader_ = -1;
};

TEST_F(ReleaseAndWait, AfterMaxHoldIsTrueOnceTheDeleteIsAnswered) {
    h_ = limited_.acquire();
    EXPECT_TRUE(eventually([&] { return servers_.children("/lock").empty(); }));
    EXPECT_TRUE(eventually([&] { return !h_.valid(); }));
    EXPECT_TRUE(h_.release_and_wait());
    EXPECT_FALSE(h_.release_and_wait()) << "it is empty";
    h_ = limited_.acquire();
    begin_transaction();
    EXPECT_TRUE(eventually([&] { return h_.why_lost() == loss_reason::max_hold_passed; }));
    expect_not_confirmed();
}

TEST_F(ReleaseAndWait, AfterACloseThatTheServersAnsweredIsTrue) {
    h_ = m_.acquire();
    c_.close();
    EXPECT_FALSE(servers_.exists(h_.path()));
    EXPECT_TRUE(h_.release_and_wait());
}

TEST_F(ReleaseAndWait, DuringAndAfterACloseThatTheServersDoNotAnswerIsFalse) {
    for (const bool during : {false, true}) {
        c_ = servers_.connect({.session_timeout = 8s, .close_timeout = 300ms});
        mutex m(c_, during ? "/during" : "/after");
        h_ = m.acquire();
        begin_transaction();
        std::thread closes([&] { c_.close(); });
        if (!during) {
            closes.join();
        }
        expect_not_confirmed();
        if (during) {
            closes.join();
        }
    }
}

TEST_F(ReleaseAndWait, WithTheServersGoneForGoodIsFalse) {
    auto doomed = std::make_unique<testing::ensemble>();
    const client c = doomed->connect();
    h_ = mutex(c, "/lock").acquire();
    doomed.reset();
    EXPECT_FALSE(h_.release_and_wait());
}

INSTANTIATE_TEST_SUITE_P(, ReleaseConfirmation, every_hold, [](const auto& p) {
    return p.param.name;
});

}  // namespace
}  // namespace latchkey::test
