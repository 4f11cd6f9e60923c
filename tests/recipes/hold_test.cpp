#include "recipe_test.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

/// A client that has a lock.
class Hold : public RecipeTest {
protected:
    client c_ = connect();
    mutex m_{c_, path_};
    hold h_ = m_.acquire();
    const std::string at_ = world_->fresh_path();
    const std::string missing_ = world_->fresh_path();
    const std::string marker_ = world_->fresh_path();
    const std::string too_long_ = std::string(2'000'000, 'x');
};

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
    mutex n(c_, path_ + "2");
    hold g = std::move(h_);
    EXPECT_FALSE(h_);  // NOLINT: what moved from means here is part of the contract
    EXPECT_TRUE(g.valid());
    g = n.acquire();
    EXPECT_TRUE(empties(path_));
    EXPECT_TRUE(g.valid());
}

TEST_P(Hold, ReleaseIsNotALoss) {
    const std::stop_token lost = h_.lost();
    ASSERT_TRUE(h_.release_and_wait());
    EXPECT_FALSE(lost.stop_requested());
}

TEST_P(Hold, ExpiredSessionLosesIt) {
    world_->expire(c_.session_id());
    EXPECT_TRUE(eventually([&] { return h_.lost().stop_requested(); }));
    EXPECT_FALSE(h_.valid());
    // A server that ends the session may still tell of the znode first.
    EXPECT_TRUE(h_.why_lost() == loss_reason::session_expired ||
                h_.why_lost() == loss_reason::znode_deleted);
    EXPECT_EQ(h_.valid_until(), boottime_clock::time_point::min());
    EXPECT_EQ(code_of([&](auto& ec) { return h_.transact({operation::create(at_)}, ec); }),
              errc::hold_lost);
    EXPECT_EQ(world_->get(at_), std::nullopt);
}

TEST_P(Hold, ChangedDataDoesNotLoseItAndTheDeletedZnodeDoes) {
    for (int i = 0; i < 3; ++i) {
        world_->set(h_.path(), "__REVOKE__");
        EXPECT_TRUE(h_.transact_once(marker_ + std::to_string(i), {operation::check(path_)}));
    }
    EXPECT_TRUE(h_.valid());
    world_->remove(h_.path());
    EXPECT_TRUE(eventually([&] { return h_.lost().stop_requested(); }));
    EXPECT_FALSE(h_.valid());
    EXPECT_EQ(h_.why_lost(), loss_reason::znode_deleted);
}

TEST_P(Hold, StaysLostInTheNextSession) {
    EXPECT_TRUE(changes_session(c_));
    EXPECT_FALSE(h_.valid());
    EXPECT_TRUE(eventually([&] { return h_.lost().stop_requested(); })) << "asked for afterwards";
    mutex other(c_, path_);
    const hold next = other.acquire();
    EXPECT_TRUE(next.valid());
    EXPECT_GT(next.token(), h_.token());
    EXPECT_FALSE(h_.valid());
    h_.release();
    EXPECT_TRUE(next.valid());
    EXPECT_EQ(world_->children(path_).size(), 1U);
}

// ---- guarded transactions ----

TEST_P(Hold, TransactionCommitsAllWhileHeld) {
    const auto results =
        h_.transact({operation::create(at_, "1"),
                     operation::create(at_ + "/n-", "", operation::lifetime::persistent_sequential),
                     operation::set(at_, "2", 0),
                     operation::check(at_, 1),
                     operation::check(at_)});
    const auto stat = c_.exists(at_);
    ASSERT_TRUE(stat);
    const std::int64_t zxid = stat->czxid;
    EXPECT_EQ(stat->mzxid, zxid);
    EXPECT_THAT(results,
                ElementsAre(operation_result{at_, 0, zxid},
                            operation_result{at_ + "/n-0000000000", 0, zxid},
                            operation_result{at_, 1, zxid},
                            operation_result{at_, 1, zxid},
                            operation_result{at_, operation::any_version, zxid}));
    EXPECT_EQ(world_->get(at_), "2");
    const std::string child = results[1].path;
    const auto removed = h_.transact({operation::remove(child), operation::remove(at_, 1)});
    EXPECT_THAT(removed,
                ElementsAre(operation_result{child, operation::any_version, 0},
                            operation_result{at_, 1, 0}))
        << "no answer shows the transaction's number";
    EXPECT_EQ(world_->get(at_), std::nullopt);
}

TEST_P(Hold, RefusedTransactionAppliesNothingAndNamesTheOperation) {
    const std::vector<operation> second_fails{operation::create(at_),
                                              operation::set(missing_, "x")};
    const std::string second = "operation 2 on \"" + missing_;
    EXPECT_TRUE(fails_with(errc::no_such_znode, [&] { h_.transact(second_fails); }, {second}));
    EXPECT_TRUE(fails_with(
        errc::no_such_znode, [&] { h_.transact_once(marker_, second_fails); }, {second}));
    EXPECT_EQ(world_->get(at_), std::nullopt);
    EXPECT_EQ(world_->get(marker_), std::nullopt);
    EXPECT_TRUE(h_.valid());
    world_->create(at_, "x");
    const auto result_of = [&](const operation& o) {
        return code_of([&](auto& ec) { return h_.transact({o}, ec); });
    };
    EXPECT_EQ(result_of(operation::create(at_)), errc::znode_exists);
    EXPECT_EQ(result_of(operation::set(at_, "y", 7)), errc::version_mismatch);
    EXPECT_EQ(result_of(operation::check(at_)), std::error_code());
}

TEST_P(Hold, TransactionAfterTheZnodeIsGoneAppliesNothing) {
    world_->remove(h_.path());
    // The event may not have come yet: the servers refuse.
    EXPECT_EQ(code_of([&](auto& ec) { return h_.transact({operation::create(at_)}, ec); }),
              errc::hold_lost);
    EXPECT_EQ(world_->get(at_), std::nullopt);
    EXPECT_EQ(h_.why_lost(), loss_reason::znode_deleted);
    EXPECT_EQ(
        code_of([&](auto& ec) { return h_.transact_once(marker_, {operation::check(path_)}, ec); }),
        errc::hold_lost);
    EXPECT_EQ(world_->get(marker_), std::nullopt);
}

TEST_P(Hold, BadTransactionsAreRefusedBeforeTheyAreSent) {
    for (const std::vector<operation>& bad : {std::vector<operation>{},
                                              std::vector{operation::create("no/slash")},
                                              std::vector{operation::create("/big", too_long_)}}) {
        EXPECT_EQ(code_of([&](auto& ec) { return h_.transact(bad, ec); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&](auto& ec) { EXPECT_FALSE(h_.transact_once(marker_, bad, ec)); }),
                  errc::invalid_argument);
    }
    EXPECT_EQ(world_->get(marker_), std::nullopt);
    EXPECT_TRUE(h_.valid());
}

TEST_P(Hold, AsynchronousTransactionsEndInACallback) {
    blocking_result<std::pair<std::error_code, std::vector<operation_result>>> result;
    h_.async_transact({operation::create(at_)},
                      [&](std::error_code ec, std::vector<operation_result> results) {
                          result.set({ec, std::move(results)});
                      });
    EXPECT_EQ(result.get(), std::pair(std::error_code(), std::vector{operation_result{at_, 0, 0}}));
    for (const bool first : {true, false}) {
        blocking_result<std::pair<std::error_code, bool>> once;
        h_.async_transact_once(
            marker_, {operation::check(path_)}, [&](std::error_code ec, bool did) {
                once.set({ec, did});
            });
        EXPECT_EQ(once.get(), std::pair(std::error_code(), first));
    }
}

// ---- transactions that are applied once ----

TEST_P(Hold, TransactionWithAMarkerIsAppliedOnce) {
    h_.release();
    world_->create(at_, "0");
    for (int i = 1; i < 4; ++i) {
        hold h = m_.acquire();
        EXPECT_EQ(h.transact_once(marker_, {operation::set(at_, std::to_string(i))}), i == 1);
        EXPECT_EQ(world_->get(at_), "1");
    }
    world_->remove(marker_);
    hold h = m_.acquire();
    EXPECT_TRUE(h.transact_once(marker_, {operation::set(at_, "4", 1)}));
    EXPECT_EQ(world_->get(at_), "4");
    EXPECT_EQ(world_->get(marker_)->find(h.path()), 0U) << "it names the hold that made it";
}

TEST_P(Hold, BadMarkersAreRefused) {
    const std::vector<operation> fine{operation::check(path_)};
    const auto once = [&](hold& h, const std::string& marker) {
        return code_of([&](auto& ec) { EXPECT_FALSE(h.transact_once(marker, fine, ec)); });
    };
    EXPECT_EQ(once(h_, marker_ + "/without/parent"), errc::no_such_znode);
    for (const char* bad : {"no/slash", "/", ""}) {
        EXPECT_EQ(once(h_, bad), errc::invalid_argument) << bad;
        blocking_result<std::error_code> told;
        h_.async_transact_once(bad, fine, [&](std::error_code e, bool) { told.set(e); });
        EXPECT_EQ(told.get(), errc::invalid_argument) << bad;
    }
    hold none;
    EXPECT_EQ(once(none, marker_), errc::hold_lost);
    EXPECT_THROW(none.async_transact_once(marker_, fine, {}), error);
    EXPECT_TRUE(h_.valid());
}

LATCHKEY_IN_THIS_WORLD(Hold);

}  // namespace
}  // namespace latchkey::test
