#include <latchkey/acl.hpp>
#include <latchkey/shared_mutex.hpp>

#include "every_step.hpp"
#include "stepped_test.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

using enum lock_mode;

/// What becomes of a shared_mutex's hold whose mode is being changed.
class ConversionFaults : public SteppedTest {
protected:
    void expect_lost(const std::shared_ptr<attempt>& a) {
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_EQ(a->ec, errc::hold_lost);
        EXPECT_EQ(a->granted.mode(), shared);
        EXPECT_FALSE(a->granted.valid());
        a->granted.release();
        EXPECT_TRUE(ensemble_.run_until([&] { return ensemble_.children("/files").empty(); }, 60s));
    }

    /// A hold that is being converted.
    struct converting_hold {
        client by;
        std::unique_ptr<shared_mutex> m;
        std::string znode;
        std::shared_ptr<attempt> asked;
    };

    converting_hold converting(lock_mode to, lock_mode from) {
        converting_hold c{connected(), nullptr, {}, nullptr};
        c.m = std::make_unique<shared_mutex>(c.by, "/files");
        hold h = held(*c.m, from);
        c.znode = h.path();
        c.asked = convert(*c.m, std::move(h), to);
        return c;
    }
};

TEST_F(ConversionFaults, SharedHoldThatWasLostBecomesNoOtherOne) {
    for (const lock_mode to : {upgrade, exclusive}) {
        client c = connected();
        shared_mutex m(c, "/files");
        hold h = held(m, shared);
        ensemble_.expire(c.session_id());
        ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 60s));
        expect_lost(convert(m, std::move(h), to));
    }
}

TEST_F(ConversionFaults, SharedHoldThatIsLostMeanwhileBecomesNoOtherOne) {
    for (const lock_mode to : {upgrade, exclusive}) {
        int lost = 0;
        at_every_step(
            {.of = ensemble_, .stretch = 10ms, .at_least = one_way},
            [&] { return converting(to, shared); },
            [&](converting_hold& c) {
                if (ensemble_.children("/files").size() == 1 && ensemble_.exists(c.znode)) {
                    ensemble_.remove(c.znode);
                    expect_lost(c.asked);
                    ++lost;
                }  // else the other one is there, and nobody can come between
            },
            [&](converting_hold& c) { ensemble_.expire(c.by.session_id()); });
        EXPECT_GT(lost, 0);
    }
}

// The watch that would tell is being set again, behind a change of the data.
TEST_F(ConversionFaults, SharedHoldThatIsLostUnseenBecomesNoOtherOne) {
    for (const lock_mode to : {upgrade, exclusive}) {
        client c = connected();
        shared_mutex m(c, "/files");
        hold h = held(m, shared);
        settle();
        const std::string znode = h.path();
        const auto a = convert(m, std::move(h), to);
        ensemble_.run_for(round_trip);  // it has seen that no writer is there
        ensemble_.set(znode, "changed");
        ensemble_.run_for(one_way / 2);
        ensemble_.remove(znode);
        expect_lost(a);
    }
}

TEST_F(ConversionFaults, SharedHoldWhoseSessionEndsMeanwhileBecomesNoneOfTheNextOne) {
    for (const lock_mode to : {upgrade, exclusive}) {
        client c = connected();
        shared_mutex m(c, "/files");
        hold h = held(m, shared);
        ensemble_.suspend(c.session_id());
        const auto a = convert(m, std::move(h), to);
        ensemble_.run_for(100ms);
        const std::int64_t session = c.session_id();
        ensemble_.expire(session);
        ensemble_.resume(session);
        expect_lost(a);
    }
}

// No transaction of the client is answered for a while, and reads are.
TEST_F(ConversionFaults, DowngradeWhoseZnodeIsDeletedIsLostBeforeItsTransactionIsAnswered) {
    constexpr int operation_timeout = -7;
    constexpr int many = 1000;
    client c = connected();
    shared_mutex m(c, "/files");
    hold h = held(m, exclusive);
    const std::string znode = h.path();
    ensemble_.refuse_next(ensemble::request_kind::multi, operation_timeout, c.session_id(), many);
    const auto a = convert(m, std::move(h), shared);
    ensemble_.remove(znode);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s));
    EXPECT_EQ(a->ec, errc::hold_lost);
    EXPECT_EQ(a->granted.why_lost(), loss_reason::znode_deleted);
}

TEST_F(ConversionFaults, DowngradeIsKeptWhereTheCreateOfItsWriterWasLostBefore) {
    client c = connected();
    shared_mutex m(c, "/files");
    held(m, exclusive).release();
    ensemble_.run_for(100ms);
    ensemble_.fail_next(ensemble::request_kind::create, ensemble::when::before, c.session_id());
    const auto a = convert(m, held(m, exclusive), shared);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_EQ(a->granted.mode(), shared);

    // Each connection looks for the lost create, which may come yet, and deletes it.
    ensemble_.cut(c.session_id());
    ensemble_.run_for(5s);
    EXPECT_TRUE(a->granted.valid());
    EXPECT_TRUE(ensemble_.exists(a->granted.path()));
}

TEST_F(ConversionFaults, HoldThatWasUpgradedAtOnceHearsThatItsZnodeIsDeleted) {
    struct holding {
        client by;
        std::unique_ptr<shared_mutex> m;
        hold held;
    };

    at_every_step(
        {.of = ensemble_, .stretch = 20ms, .at_least = one_way},
        [&] {
            holding h{connected(), nullptr, {}};
            h.m = std::make_unique<shared_mutex>(h.by, "/files");
            h.held = held(*h.m, upgrade);
            return h;
        },
        [&](holding& h) {
            const auto a = convert(*h.m, std::move(h.held), exclusive);
            ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
            h.held = std::move(a->granted);
        },
        [&](holding& h) {
            ensemble_.run_for(100ms);
            ensemble_.remove(h.held.path());
            ensemble_.run_for(round_trip);
            EXPECT_FALSE(h.held.valid());
        });
}

TEST_F(ConversionFaults, UpgradeThatWasRefusedIsNotMadeLater) {
    client c = connected();
    client other = connected();
    shared_mutex m(c, "/files");
    shared_mutex theirs(other, "/files");
    hold reader = held(theirs, shared);
    hold h = held(m, upgrade);
    ensemble_.create("/files/_c_x-__WRIT__-1");  // nobody knows who is ahead of whom
    const auto a = convert(m, std::move(h), exclusive);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_EQ(a->ec, errc::sequence_exhausted);
    EXPECT_EQ(a->granted.mode(), upgrade);

    ensemble_.remove("/files/_c_x-__WRIT__-1");
    reader.release();
    ensemble_.cut(c.session_id());
    ensemble_.run_for(5s);
    EXPECT_TRUE(a->granted.valid());
    EXPECT_EQ(a->granted.mode(), upgrade);
}

TEST_F(ConversionFaults, DowngradeThatWasDoneIsFoundDoneThoughAccessIsTakenAwayMeanwhile) {
    client c = connected();
    shared_mutex m(c, "/files");
    hold h = held(m, exclusive);
    ensemble_.fail_next(ensemble::request_kind::multi, ensemble::when::after, c.session_id());
    const auto a = convert(m, std::move(h), shared);
    ensemble_.run_for(one_way);
    ensemble_.set_acl("/files", {{"world", "anyone", permission::read}});
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_FALSE(a->ec) << a->ec.message();
    EXPECT_EQ(a->granted.mode(), shared);
    EXPECT_TRUE(ensemble_.exists(a->granted.path()));
}

TEST_F(ConversionFaults, DowngradeThatIsRefusedLeavesTheWriterAsItWas) {
    for (const bool in_doubt : {false, true}) {
        client c = connected();
        shared_mutex m(c, "/files");
        hold h = held(m, exclusive);
        ensemble_.set_acl("/files", {{"world", "anyone", permission::read}});
        if (in_doubt) {
            ensemble_.fail_next(
                ensemble::request_kind::multi, ensemble::when::before, c.session_id());
        }
        const auto a = convert(m, std::move(h), shared);
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_EQ(a->ec, errc::not_authorized);
        EXPECT_EQ(a->granted.mode(), exclusive);
        EXPECT_TRUE(a->granted.valid());
        EXPECT_TRUE(ensemble_.exists(a->granted.path()));
        ensemble_.set_acl("/files", open_unsafe_acl());
    }
}

}  // namespace
}  // namespace latchkey::test
