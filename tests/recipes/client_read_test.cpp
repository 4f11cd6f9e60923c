#include "recipe_test.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto both_ways = {read_from::any_server, read_from::quorum};

/// What a client reads, and its transactions without a hold.
class ClientRead : public TwoClientsTest {
protected:
    std::string at_ = world_->fresh_path();
};

TEST_P(ClientRead, GetsDataAndStat) {
    world_->create(at_, "one");
    world_->set(at_, "three");
    world_->create(at_ + "/b");
    world_->create(at_ + "/a");
    for (const auto from : both_ways) {
        catch_up(a_);
        const auto found = a_.get(at_, from);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->data, "three");
        const znode_stat& s = found->stat;
        EXPECT_GT(s.czxid, 0);
        EXPECT_GT(s.mzxid, s.czxid);
        EXPECT_GT(s.pzxid, s.mzxid);
        EXPECT_EQ(s.version, 1);
        EXPECT_EQ(s.child_version, 2);
        EXPECT_EQ(s.owner, 0);
        EXPECT_EQ(s.data_size, 5);
        EXPECT_EQ(s.child_count, 2);
        EXPECT_GT(s.created, std::chrono::system_clock::time_point(std::chrono::hours(24 * 365)));
        EXPECT_GE(s.modified, s.created);
        EXPECT_EQ(a_.exists(at_, from), s);
        EXPECT_THAT(a_.children(at_, from), ElementsAre("a", "b"));
        EXPECT_THAT(a_.children(at_ + "/a", from), IsEmpty());
    }
}

TEST_P(ClientRead, ShowsTheSessionOfAnEphemeral) {
    mutex m(a_, path_);
    const hold h = m.acquire();
    const auto stat = a_.exists(h.path());
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->owner, a_.session_id());
    EXPECT_EQ(stat->czxid, h.token().zxid);
}

TEST_P(ClientRead, MissingZnodeIsNothingAndHasNoChildren) {
    for (const auto from : both_ways) {
        EXPECT_EQ(a_.get(at_, from), std::nullopt);
        EXPECT_EQ(a_.exists(at_, from), std::nullopt);
        std::error_code ec;
        EXPECT_THAT(a_.children(at_, from, ec), IsEmpty());
        EXPECT_EQ(ec, errc::no_such_znode);
        EXPECT_EQ(a_.get(at_, from, ec), std::nullopt);
        EXPECT_FALSE(ec);
        EXPECT_TRUE(fails_with(errc::no_such_znode, [&] { return a_.children(at_, from); }, {at_}));
    }
}

TEST_P(ClientRead, QuorumReadSeesWhatAnotherClientHasWritten) {
    a_.transact({operation::create(at_, "0")});
    for (int i = 1; i <= 200; ++i) {
        const std::string now = std::to_string(i);
        a_.transact({operation::set(at_, now)});
        const auto seen = b_.get(at_, read_from::quorum);
        ASSERT_TRUE(seen);
        ASSERT_EQ(seen->data, now);
        ASSERT_EQ(b_.exists(at_, read_from::quorum)->version, i);
    }
}

TEST_P(ClientRead, ReadsWhatItHasWritten) {
    for (int i = 0; i < 50; ++i) {
        const std::string name = std::to_string(1000 + i);
        a_.transact({operation::create(i == 0 ? at_ : at_ + '/' + name)});
        ASSERT_EQ(a_.children(at_).size(), std::size_t(i));
    }
}

TEST_P(ClientRead, BelowAChroot) {
    world_->create(at_ + "/sub", "x");
    client c = world_->connect(patient(), at_);
    EXPECT_EQ(c.get("/sub")->data, "x");
    EXPECT_THAT(c.children("/", read_from::quorum), ElementsAre("sub"));
    const auto results =
        c.transact({operation::create("/sub/n-", {}, operation::lifetime::persistent_sequential)});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].path, "/sub/n-0000000000");
    client nowhere = world_->connect(patient(), at_ + "/missing");
    EXPECT_EQ(nowhere.get("/sub", read_from::quorum), std::nullopt);
}

TEST_P(ClientRead, AsynchronousFormsEndInCallbacks) {
    world_->create(at_, "x");
    world_->create(at_ + "/child");
    blocking_result<std::pair<std::error_code, std::optional<znode>>> got;
    a_.async_get(at_, read_from::quorum, [&](std::error_code ec, std::optional<znode> z) {
        EXPECT_THROW(static_cast<void>(a_.get(at_)), error) << "would deadlock";
        got.set({ec, std::move(z)});
    });
    const auto [failed, z] = got.get();
    EXPECT_FALSE(failed);
    ASSERT_TRUE(z);
    EXPECT_EQ(z->data, "x");
    blocking_result<std::optional<znode_stat>> existed;
    a_.async_exists(at_, read_from::any_server, [&](std::error_code, auto s) { existed.set(s); });
    EXPECT_EQ(existed.get(), z->stat);
    blocking_result<std::vector<std::string>> listed;
    a_.async_children(at_, read_from::any_server, [&](std::error_code, auto names) {
        listed.set(std::move(names));
    });
    EXPECT_THAT(listed.get(), ElementsAre("child"));
    blocking_result<std::error_code> refused;
    a_.async_children(at_ + "-missing", read_from::quorum, [&](std::error_code ec, const auto&) {
        refused.set(ec);
    });
    EXPECT_EQ(refused.get(), errc::no_such_znode);
}

TEST_P(ClientRead, BadPathsAreRefusedBeforeAnythingIsSent) {
    const std::string too_long = '/' + std::string(2000, 'x');
    for (const std::string& bad : {std::string(), std::string("a"), std::string("/a/"), too_long}) {
        EXPECT_TRUE(is_invalid([&] { return a_.get(bad); }));
        EXPECT_TRUE(is_invalid([&] { return a_.exists(bad, read_from::quorum); }));
        EXPECT_TRUE(is_invalid([&] { return a_.children(bad); }));
        blocking_result<std::error_code> told;
        const auto tell = [&](std::error_code ec, const auto&) { told.set(ec); };
        a_.async_get(bad, read_from::any_server, tell);
        EXPECT_EQ(told.get(), errc::invalid_argument);
        blocking_result<std::error_code> refused;
        a_.async_transact({operation::create(bad)},
                          [&](std::error_code ec, const auto&) { refused.set(ec); });
        EXPECT_EQ(refused.get(), errc::invalid_argument);
    }
}

TEST_P(ClientRead, AccessControlListRefusesToReadAndOnNewerServersToAskWhetherItExists) {
    client alice = connect_as("alice:secret");
    alice.transact({operation::create(at_, "hers")});
    for (const auto from : both_ways) {
        catch_up(a_);
        EXPECT_EQ(alice.get(at_, from)->data, "hers");
        std::error_code ec;
        EXPECT_EQ(a_.get(at_, from, ec), std::nullopt);
        EXPECT_EQ(ec, errc::not_authorized);
        EXPECT_THAT(a_.children(at_, from, ec), IsEmpty());
        EXPECT_EQ(ec, errc::not_authorized);
        EXPECT_EQ(a_.exists(at_, from, ec).has_value(), !world_->exists_needs_read());
        EXPECT_EQ(ec == errc::not_authorized, world_->exists_needs_read());
    }
}

TEST_P(ClientRead, ClientThatIsClosedOrMovedFromSaysSo) {
    client moved = std::move(a_);
    std::error_code ec;
    EXPECT_EQ(a_.get(at_, read_from::any_server, ec), std::nullopt);  // NOLINT: it is defined
    EXPECT_EQ(ec, errc::closed);
    moved.close();
    EXPECT_EQ(moved.get(at_, read_from::quorum, ec), std::nullopt);
    EXPECT_EQ(ec, errc::closed);
    EXPECT_THAT(moved.transact({operation::create(at_)}, ec), IsEmpty());
    EXPECT_EQ(ec, errc::closed);
}

TEST_P(ClientRead, ReadsInTheNextSession) {
    world_->create(at_, "x");
    ASSERT_TRUE(a_.wait_connected(30s));
    world_->expire(a_.session_id());
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(a_.get(at_, read_from::quorum)->data, "x");
    }
}

// ---- transactions without a hold ----

TEST_P(ClientRead, TransactionCommitsAllAndTellsVersionsAndItsNumber) {
    const auto results = a_.transact({operation::create(at_, "1"),
                                      operation::set(at_, "2", 0),
                                      operation::set(at_, "3"),
                                      operation::check(at_, 2)});
    const auto found = a_.get(at_);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->data, "3");
    const std::int64_t zxid = found->stat.mzxid;
    EXPECT_THAT(results,
                ElementsAre(operation_result{at_, 0, zxid},
                            operation_result{at_, 1, zxid},
                            operation_result{at_, 2, zxid},
                            operation_result{at_, 2, zxid}));
}

TEST_P(ClientRead, TransactionThatIsRefusedAppliesNothingAndNamesTheOperation) {
    const std::string missing = world_->fresh_path();
    EXPECT_TRUE(fails_with(errc::no_such_znode,
                           [&] {
                               a_.transact({operation::create(at_), operation::set(missing, "x")});
                           },
                           {"operation 2 on \"" + missing}));
    EXPECT_EQ(a_.exists(at_), std::nullopt);
    const auto result_of = [&](const std::vector<operation>& all) {
        return code_of([&](auto& ec) { EXPECT_THAT(a_.transact(all, ec), IsEmpty()); });
    };
    EXPECT_EQ(result_of({}), errc::invalid_argument);
    EXPECT_EQ(result_of({operation::create("no/slash")}), errc::invalid_argument);
    EXPECT_EQ(result_of({operation::create(at_, std::string(2'000'000, 'x'))}),
              errc::invalid_argument);
    a_.transact({operation::create(at_)});
    EXPECT_EQ(result_of({operation::create(at_)}), errc::znode_exists);
}

LATCHKEY_IN_THIS_WORLD(ClientRead);

}  // namespace
}  // namespace latchkey::test
