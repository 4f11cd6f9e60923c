#include "recipe_test.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

class Hold : public RecipeTest {};

TEST_P(Hold, EmptyHoldIsHarmless) {
    hold h;
    EXPECT_FALSE(h);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::none);
    EXPECT_EQ(h.path(), "");
    EXPECT_EQ(h.token(), fencing_token{});
    EXPECT_FALSE(h.lost().stop_possible());
    EXPECT_EQ(h.valid_until(), boottime_clock::time_point::min());
    EXPECT_THROW(h.transact({operation::check("/a")}), error);
    EXPECT_FALSE(h.release_and_wait());
    h.release();
}

TEST_P(Hold, MovesAndReleasesWhatItHadBefore) {
    client c = connect();
    mutex m(c, path_);
    mutex n(c, path_ + "2");
    hold h = m.acquire();
    hold g = std::move(h);
    EXPECT_FALSE(h);  // NOLINT: what moved from means here is part of the contract
    EXPECT_TRUE(g.valid());
    g = n.acquire();
    EXPECT_TRUE(empties(path_));
    EXPECT_TRUE(g.valid());
}

TEST_P(Hold, ReleaseIsNotALoss) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::stop_token lost = h.lost();
    ASSERT_TRUE(h.release_and_wait());
    EXPECT_FALSE(lost.stop_requested());
}

TEST_P(Hold, ExpiredSessionLosesIt) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    world_->expire(c.session_id());
    EXPECT_TRUE(eventually([&] { return h.lost().stop_requested(); }));
    EXPECT_FALSE(h.valid());
    // A server that ends the session may still tell of the znode first.
    EXPECT_TRUE(h.why_lost() == loss_reason::session_expired ||
                h.why_lost() == loss_reason::znode_deleted);
    EXPECT_EQ(h.valid_until(), boottime_clock::time_point::min());
    std::error_code ec;
    h.transact({operation::create(path_ + "-effect")}, ec);
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_EQ(world_->get(path_ + "-effect"), std::nullopt);
}

TEST_P(Hold, DeletedZnodeLosesIt) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    world_->remove(h.path());
    EXPECT_TRUE(eventually([&] { return h.lost().stop_requested(); }));
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

TEST_P(Hold, ChangedDataDoesNotLoseItAndIsNotTheLastThingWatched) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    for (int i = 0; i < 3; ++i) {
        world_->set(h.path(), "__REVOKE__");
    }
    EXPECT_TRUE(h.valid());
    world_->remove(h.path());
    EXPECT_TRUE(eventually([&] { return h.why_lost() == loss_reason::znode_deleted; }));
}

TEST_P(Hold, StaysLostInTheNextSession) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::int64_t before = c.session_id();
    world_->expire(before);
    EXPECT_TRUE(eventually([&] { return c.session_id() != 0 && c.session_id() != before; }));
    EXPECT_FALSE(h.valid());
    mutex other(c, path_);
    const hold next = other.acquire();
    EXPECT_TRUE(next.valid());
    EXPECT_GT(next.token(), h.token());
    EXPECT_FALSE(h.valid());
    h.release();
    EXPECT_TRUE(next.valid());
    EXPECT_EQ(world_->children(path_).size(), 1U);
}

TEST_P(Hold, LostIsToldWhenAskedForAfterwards) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    world_->expire(c.session_id());
    ASSERT_TRUE(eventually([&] { return !h.valid(); }));
    EXPECT_TRUE(eventually([&] { return h.lost().stop_requested(); }));
}

// ---- guarded transactions ----

TEST_P(Hold, TransactionCommitsAllWhileHeld) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::string at = world_->fresh_path();
    const auto results =
        h.transact({operation::create(at, "1"),
                    operation::create(at + "/n-", "", operation::lifetime::persistent_sequential),
                    operation::set(at, "2", 0),
                    operation::check(at, 1),
                    operation::check(at)});
    const auto stat = c.exists(at);
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->mzxid, stat->czxid);
    EXPECT_THAT(results,
                ::testing::ElementsAre(operation_result{at, 0, stat->mzxid},
                                       operation_result{at + "/n-0000000000", 0, stat->mzxid},
                                       operation_result{at, 1, stat->mzxid},
                                       operation_result{at, 1, stat->mzxid},
                                       operation_result{at, operation::any_version, stat->mzxid}));
    EXPECT_EQ(world_->get(at), "2");
    const auto removed = h.transact({operation::remove(results[1].path), operation::remove(at, 1)});
    EXPECT_THAT(removed,
                ::testing::ElementsAre(operation_result{results[1].path, operation::any_version, 0},
                                       operation_result{at, 1, 0}))
        << "no answer shows the transaction's number";
    EXPECT_EQ(world_->get(at), std::nullopt);
}

TEST_P(Hold, RefusedTransactionAppliesNothingAndNamesTheOperation) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::string at = world_->fresh_path();
    const std::string missing = world_->fresh_path();
    try {
        h.transact({operation::create(at), operation::set(missing, "x")});
        ADD_FAILURE() << "committed";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::no_such_znode);
        EXPECT_NE(std::string(e.what()).find(missing), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("operation 2"), std::string::npos) << e.what();
    }
    EXPECT_EQ(world_->get(at), std::nullopt);
    EXPECT_TRUE(h.valid());
    world_->create(at, "x");
    std::error_code ec;
    h.transact({operation::create(at)}, ec);
    EXPECT_EQ(ec, errc::znode_exists);
    h.transact({operation::set(at, "y", 7)}, ec);
    EXPECT_EQ(ec, errc::version_mismatch);
    h.transact({operation::check(at)}, ec);
    EXPECT_FALSE(ec);
}

TEST_P(Hold, TransactionAfterTheZnodeIsGoneAppliesNothing) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::string at = world_->fresh_path();
    world_->remove(h.path());
    std::error_code ec;
    h.transact({operation::create(at)}, ec);  // the event may not have come yet: the servers refuse
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_EQ(world_->get(at), std::nullopt);
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

TEST_P(Hold, BadTransactionsAreRefusedBeforeTheyAreSent) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    std::error_code ec;
    h.transact({}, ec);
    EXPECT_EQ(ec, errc::invalid_argument);
    h.transact({operation::create("no/slash")}, ec);
    EXPECT_EQ(ec, errc::invalid_argument);
    h.transact({operation::create("/big", std::string(2'000'000, 'x'))}, ec);
    EXPECT_EQ(ec, errc::invalid_argument);
    EXPECT_TRUE(h.valid());
}

TEST_P(Hold, AsynchronousTransactionEndsInACallback) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::string at = world_->fresh_path();
    blocking_result<std::pair<std::error_code, std::vector<operation_result>>> result;
    h.async_transact({operation::create(at)},
                     [&](std::error_code ec, std::vector<operation_result> results) {
                         result.set({ec, std::move(results)});
                     });
    const auto [ec, results] = result.get();
    EXPECT_FALSE(ec);
    EXPECT_EQ(results, (std::vector{operation_result{at, 0, 0}}));
}

// ---- transactions that are applied once ----

TEST_P(Hold, TransactionWithAMarkerIsAppliedOnce) {
    client c = connect();
    mutex m(c, path_);
    const std::string at = world_->fresh_path();
    const std::string marker = world_->fresh_path();
    world_->create(at, "0");
    for (int i = 1; i < 4; ++i) {
        hold h = m.acquire();
        EXPECT_EQ(h.transact_once(marker, {operation::set(at, std::to_string(i))}), i == 1);
        EXPECT_EQ(world_->get(at), "1");
    }
    world_->remove(marker);
    hold h = m.acquire();
    EXPECT_TRUE(h.transact_once(marker, {operation::set(at, "4", 1)}));
    EXPECT_EQ(world_->get(at), "4");
    EXPECT_EQ(world_->get(marker)->find(h.path()), 0U) << "it names the hold that made it";
}

TEST_P(Hold, TransactionWithAMarkerThatIsRefusedLeavesNoMarker) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::string missing = world_->fresh_path();
    const std::string marker = world_->fresh_path();
    try {
        h.transact_once(marker, {operation::check(path_), operation::set(missing, "x")});
        ADD_FAILURE() << "committed";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::no_such_znode);
        EXPECT_NE(std::string(e.what()).find("operation 2 on \"" + missing), std::string::npos)
            << e.what();
    }
    EXPECT_EQ(world_->get(marker), std::nullopt);
    std::error_code ec;
    EXPECT_FALSE(h.transact_once(marker + "/without/parent", {operation::check(path_)}, ec));
    EXPECT_EQ(ec, errc::no_such_znode);
    EXPECT_TRUE(h.valid());
    world_->remove(h.path());
    EXPECT_FALSE(h.transact_once(marker, {operation::check(path_)}, ec));
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_EQ(world_->get(marker), std::nullopt);
}

TEST_P(Hold, TransactionWithAMarkerCountsWritesToTheHoldsZnode) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::string marker = world_->fresh_path();
    for (int i = 0; i < 3; ++i) {
        world_->set(h.path(), "__REVOKE__");
        EXPECT_TRUE(h.transact_once(marker + std::to_string(i), {operation::check(path_)}));
    }
}

TEST_P(Hold, BadTransactionsWithAMarkerAreRefusedBeforeTheyAreSent) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::string marker = world_->fresh_path();
    std::error_code ec;
    EXPECT_FALSE(h.transact_once(marker, {}, ec));
    EXPECT_EQ(ec, errc::invalid_argument);
    for (const char* bad : {"no/slash", "/", ""}) {
        EXPECT_FALSE(h.transact_once(bad, {operation::check(path_)}, ec));
        EXPECT_EQ(ec, errc::invalid_argument) << bad;
        blocking_result<std::error_code> told;
        h.async_transact_once(
            bad, {operation::check(path_)}, [&](std::error_code e, bool) { told.set(e); });
        EXPECT_EQ(told.get(), errc::invalid_argument) << bad;
    }
    EXPECT_FALSE(
        h.transact_once(marker, {operation::create("/big", std::string(2'000'000, 'x'))}, ec));
    EXPECT_EQ(ec, errc::invalid_argument);
    hold none;
    EXPECT_FALSE(none.transact_once(marker, {operation::check(path_)}, ec));
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_THROW(none.async_transact_once(marker, {operation::check(path_)}, {}), error);
    EXPECT_EQ(world_->get(marker), std::nullopt);
    EXPECT_TRUE(h.valid());
}

TEST_P(Hold, AsynchronousTransactionWithAMarkerEndsInACallback) {
    client c = connect();
    mutex m(c, path_);
    hold h = m.acquire();
    const std::string marker = world_->fresh_path();
    for (const bool first : {true, false}) {
        blocking_result<std::pair<std::error_code, bool>> result;
        h.async_transact_once(marker, {operation::check(path_)}, [&](std::error_code ec, bool did) {
            result.set({ec, did});
        });
        EXPECT_EQ(result.get(), std::pair(std::error_code(), first));
    }
}

LATCHKEY_IN_THIS_WORLD(Hold);

}  // namespace
}  // namespace latchkey::test
