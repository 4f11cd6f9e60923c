#include <latchkey/acl.hpp>
#include <latchkey/shared_mutex.hpp>

#include "every_step.hpp"
#include "lock_fixture.hpp"
#include "result_codes.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using enum lock_mode;
using when = ensemble::when;

/// What becomes of a shared_mutex's hold whose mode is being changed.
class ConversionFaults : public LockSteps {
protected:
    /// A hold of a client of its own, and its conversion.
    struct converting {
        explicit converting(client c) : by(std::move(c)) {}

        client by;
        shared_mutex m{by, "/files"};
        hold h;
        std::string znode;
        std::shared_ptr<attempt> asked;
    };

    std::unique_ptr<converting> holding(lock_mode mode) {
        auto c = std::make_unique<converting>(connected());
        c->h = held(c->m, mode);
        c->znode = c->h.path();
        return c;
    }

    void begin(converting& c, lock_mode to) { c.asked = convert(c.m, std::move(c.h), to); }

    void expect_lost_reader(converting& c) {
        EXPECT_EQ(error_of(c.asked), errc::hold_lost);
        EXPECT_EQ(c.asked->granted.mode(), shared);
        EXPECT_FALSE(c.asked->granted.valid());
        c.asked->granted.release();
        EXPECT_TRUE(left(0, "/files"));
    }

    void expect_kept(const converting& c, lock_mode mode) {
        EXPECT_TRUE(c.asked->granted.valid());
        EXPECT_EQ(c.asked->granted.mode(), mode);
        EXPECT_TRUE(ensemble_.exists(c.asked->granted.path()));
    }

    static constexpr std::array more{upgrade, exclusive};
};

TEST_F(ConversionFaults, SharedHoldThatWasLostBecomesNoOtherOne) {
    for (const lock_mode to : more) {
        const auto c = holding(shared);
        ensemble_.expire(c->by.session_id());
        expect_lost(c->h, loss_reason::session_expired);
        begin(*c, to);
        expect_lost_reader(*c);
    }
}

TEST_F(ConversionFaults, SharedHoldThatIsLostMeanwhileBecomesNoOtherOne) {
    for (const lock_mode to : more) {
        int lost = 0;
        at_every_step(
            {.of = ensemble_, .stretch = 10ms, .at_least = one_way},
            [&] {
                auto c = holding(shared);
                begin(*c, to);
                return c;
            },
            [&](const auto& c) {
                if (in_queue("/files") == 1 && ensemble_.exists(c->znode)) {
                    ensemble_.remove(c->znode);
                    expect_lost_reader(*c);
                    ++lost;
                }  // else the other one is there, and no participant can come between
            },
            [&](const auto& c) { ensemble_.expire(c->by.session_id()); });
        EXPECT_GT(lost, 0);
    }
}

// The watch that would tell is being set again, behind a change of the data.
TEST_F(ConversionFaults, SharedHoldThatIsLostUnseenBecomesNoOtherOne) {
    for (const lock_mode to : more) {
        const auto c = holding(shared);
        settle();
        begin(*c, to);
        ensemble_.run_for(round_trip);  // it has seen that no writer is there
        ensemble_.set(c->znode, "changed");
        ensemble_.run_for(one_way / 2);
        ensemble_.remove(c->znode);
        expect_lost_reader(*c);
    }
}

TEST_F(ConversionFaults, SharedHoldWhoseSessionEndsMeanwhileBecomesNoneOfTheNextOne) {
    for (const lock_mode to : more) {
        const auto c = holding(shared);
        const std::int64_t session = c->by.session_id();
        ensemble_.suspend(session);
        begin(*c, to);
        ensemble_.run_for(100ms);
        ensemble_.expire(session);
        ensemble_.resume(session);
        expect_lost_reader(*c);
    }
}

// No transaction of the client is answered for a while, and reads are.
TEST_F(ConversionFaults, DowngradeWhoseZnodeIsDeletedIsLostBeforeItsTransactionIsAnswered) {
    constexpr int operation_timeout = -7;
    const auto c = holding(exclusive);
    ensemble_.refuse_next(op::multi, operation_timeout, c->by.session_id(), 1000);
    begin(*c, shared);
    ensemble_.remove(c->znode);
    EXPECT_EQ(error_of(c->asked, 1s), errc::hold_lost);
    EXPECT_EQ(c->asked->granted.why_lost(), loss_reason::znode_deleted);
}

TEST_F(ConversionFaults, DowngradeIsKeptWhereTheCreateOfItsWriterWasLostBefore) {
    const auto c = holding(exclusive);
    c->h.release();
    ensemble_.run_for(100ms);
    ensemble_.fail_next(op::create, when::before, c->by.session_id());
    c->h = held(c->m, exclusive);
    begin(*c, shared);
    finish(c->asked);
    // Each connection looks for the lost create, which may come yet, and deletes it.
    ensemble_.cut(c->by.session_id());
    ensemble_.run_for(5s);
    expect_kept(*c, shared);
}

TEST_F(ConversionFaults, HoldThatWasUpgradedAtOnceHearsThatItsZnodeIsDeleted) {
    at_every_step(
        {.of = ensemble_, .stretch = 20ms, .at_least = one_way},
        [&] { return holding(upgrade); },
        [&](const auto& c) {
            begin(*c, exclusive);
            finish(c->asked);
        },
        [&](const auto& c) {
            ensemble_.run_for(100ms);
            ensemble_.remove(c->asked->granted.path());
            ensemble_.run_for(round_trip);
            EXPECT_FALSE(c->asked->granted.valid());
        });
}

TEST_F(ConversionFaults, UpgradeThatWasRefusedIsNotMadeLater) {
    const auto reader = holding(shared);
    const auto c = holding(upgrade);
    ensemble_.create("/files/_c_x-__WRIT__-1");  // the order cannot be known
    begin(*c, exclusive);
    EXPECT_EQ(error_of(c->asked), errc::sequence_exhausted);
    expect_kept(*c, upgrade);

    ensemble_.remove("/files/_c_x-__WRIT__-1");
    reader->h.release();
    ensemble_.cut(c->by.session_id());
    ensemble_.run_for(5s);
    expect_kept(*c, upgrade);
}

TEST_F(ConversionFaults, DowngradeThatWasDoneIsFoundDoneThoughAccessIsTakenAwayMeanwhile) {
    const auto c = holding(exclusive);
    ensemble_.fail_next(op::multi, when::after, c->by.session_id());
    begin(*c, shared);
    ensemble_.run_for(one_way);
    ensemble_.set_acl("/files", {{"world", "anyone", permission::read}});
    EXPECT_FALSE(error_of(c->asked)) << c->asked->ec.message();
    expect_kept(*c, shared);
}

TEST_F(ConversionFaults, DowngradeThatIsRefusedLeavesTheWriterAsItWas) {
    for (const bool in_doubt : {false, true}) {
        const auto c = holding(exclusive);
        ensemble_.set_acl("/files", {{"world", "anyone", permission::read}});
        if (in_doubt) {
            ensemble_.fail_next(op::multi, when::before, c->by.session_id());
        }
        begin(*c, shared);
        EXPECT_EQ(error_of(c->asked), errc::not_authorized) << in_doubt;
        expect_kept(*c, exclusive);
        ensemble_.set_acl("/files", open_unsafe_acl());
    }
}

TEST_F(ConversionFaults, DowngradeThatBeginsWithoutAConnectionEndsInTime) {
    const auto c = holding(exclusive);
    ensemble_.suspend(c->by.session_id());
    c->asked = convert(c->m, std::move(c->h), shared, 100ms);
    ensemble_.run_for(200ms);
    ASSERT_TRUE(c->asked->done);
    EXPECT_EQ(c->asked->ec, errc::unreachable);
    ensemble_.resume(c->by.session_id());
    settle();
    expect_kept(*c, exclusive);
}

// A server that its session has come back to applies what it had received before.
TEST_F(ConversionFaults, DowngradeThatIsAppliedAfterItWasRefusedLeavesNoReader) {
    for (const bool is_released : {false, true}) {
        const auto c = holding(exclusive);
        ensemble_.set_acl("/files", {{"world", "anyone", permission::read}});
        ensemble_.fail_next(op::multi, when::before, c->by.session_id());
        begin(*c, shared);
        EXPECT_EQ(error_of(c->asked), errc::not_authorized);
        ensemble_.set_acl("/files", open_unsafe_acl());
        std::string reader = c->znode;
        reader.replace(reader.find("__WRIT__"), 8, "__READ__");
        if (is_released) {
            ensemble_.refuse_next(op::remove, throttled, c->by.session_id());
            c->asked->granted.release();
        }
        arrives_late(
            c->by,
            request::multi({request::create(reader, {}, create_mode::ephemeral, open_unsafe_acl()),
                            request::remove(c->znode)}));
        EXPECT_TRUE(left(0, "/files"));
        if (!is_released) {
            expect_lost(c->asked->granted, loss_reason::znode_deleted);
        }
    }
}

}  // namespace
}  // namespace latchkey::test
