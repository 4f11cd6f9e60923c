#include <latchkey/group.hpp>

#include "client_core.hpp"
#include "stepped_test.hpp"

#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::operation;

/// A create that was resolved as not there, and is applied after all: servers do that when it has
/// waited in the queue of one of them, and its session has come back there meanwhile.
class LateCreate : public SteppedTest {
protected:
    LateCreate() {
        held(mine_).release();
        settle();
    }

    /// Holds after a create that was lost on the way.
    hold held_after_a_loss() {
        ensemble_.fail_next(op::create, when::before, a_.session_id());
        hold h = held(mine_);
        EXPECT_EQ(ensemble_.children("/lock").size(), 1U);
        return h;
    }

    /// The lost create arrives: another znode of the same attempt and session.
    void arrives(const hold& h) { arrives(h.path()); }

    void arrives(const std::string& path) {
        constexpr std::size_t digits = 10;
        const std::string prefix = path.substr(0, path.size() - digits);
        client_core& core = *client_core::of(a_);
        core.post([&core, prefix] {
            core.submit(
                request::create(prefix, {}, create_mode::ephemeral_sequential, open_unsafe_acl()),
                [](const reply&) {});
        });
        const std::size_t before = ensemble_.children("/lock").size();
        ASSERT_TRUE(ensemble_.run_until(
            [&] { return ensemble_.children("/lock").size() == before + 1; }, 1s));
    }

    [[nodiscard]] bool left(std::size_t znodes) {
        return ensemble_.run_until([&] { return ensemble_.children("/lock").size() == znodes; },
                                   10s);
    }

    client a_ = connected();
    mutex mine_{a_, "/lock"};
};

TEST_F(LateCreate, WhileItsAttemptHoldsIsDeletedOnTheNextConnection) {
    const hold h = held_after_a_loss();
    arrives(h);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(1));
    ensemble_.run_for(5s);
    EXPECT_TRUE(ensemble_.exists(h.path()));
    EXPECT_TRUE(h.valid());
}

TEST_F(LateCreate, AfterTheReleaseIsDeletedOnTheNextConnection) {
    hold h = held_after_a_loss();
    const std::string path = h.path();
    h.release();
    ASSERT_TRUE(left(0));
    arrives(path);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(0));
    EXPECT_TRUE(held(mine_).valid());
}

TEST_F(LateCreate, AfterAnAttemptThatWasCancelledIsDeletedOnTheNextConnection) {
    client b = connected();
    mutex theirs(b, "/lock");
    const hold h = held(theirs);
    settle();
    std::string path;
    ensemble_.fail_next(op::create, when::before, a_.session_id());
    std::stop_source stop;
    const auto w =
        acquire(mine_,
                std::chrono::nanoseconds::max(),
                {.stop = stop.get_token(), .reserved = [&](const place& p) { path = p.path; }});
    ASSERT_TRUE(ensemble_.run_until([&] { return !path.empty(); }, 10s));
    stop.request_stop();
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
    ASSERT_TRUE(left(1));
    arrives(path);
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(left(1));
    EXPECT_TRUE(ensemble_.exists(h.path()));
}

TEST_F(LateCreate, IsNotLookedForWhereNothingWasLost) {
    held(mine_).release();
    settle();
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).children, 0U);
}

TEST_F(LateCreate, IsNotLookedForWithoutEnd) {
    held_after_a_loss().release();
    ensemble_.run_for(10 * 12s + 1s);
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(1s);
    settle();
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).children, 0U);
}

TEST_F(LateCreate, OfAMemberThatHasLeftIsDeletedOnTheNextConnection) {
    group all(a_, "/g");
    membership m;
    ensemble_.fail_next(op::create, when::before, a_.session_id());
    all.async_join(
        60s, "x", {}, {}, [&](std::error_code, membership joined) { m = std::move(joined); });
    ASSERT_TRUE(ensemble_.run_until([&] { return bool(m); }, 60s));
    m.leave();
    const auto gone = [&] { return !ensemble_.exists("/g/x"); };
    ASSERT_TRUE(ensemble_.run_until(gone, 10s));
    client_core& core = *client_core::of(a_);
    core.post([&core] {
        core.submit(request::create("/g/x", {}, create_mode::ephemeral, open_unsafe_acl()),
                    [](const reply&) {});
    });
    ASSERT_TRUE(ensemble_.run_until([&] { return !gone(); }, 10s));
    ensemble_.cut(a_.session_id());
    EXPECT_TRUE(ensemble_.run_until(gone, 10s));
}

}  // namespace
}  // namespace latchkey::test
