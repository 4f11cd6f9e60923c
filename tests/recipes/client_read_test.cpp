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

constexpr auto both = {read_from::any_server, read_from::quorum};

/// What a client reads, and its transactions without a hold.
class ClientRead : public RecipeTest {
protected:
    std::string at_ = world_->fresh_path();
};

TEST_P(ClientRead, GetsDataAndStat) {
    client c = connect();
    world_->create(at_, "one");
    world_->set(at_, "three");
    world_->create(at_ + "/b");
    world_->create(at_ + "/a");
    for (const auto from : both) {
        catch_up(c);
        const auto found = c.get(at_, from);
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
        EXPECT_EQ(c.exists(at_, from), s);
        EXPECT_THAT(c.children(at_, from), ElementsAre("a", "b"));
        EXPECT_THAT(c.children(at_ + "/a", from), IsEmpty());
    }
}

TEST_P(ClientRead, ShowsTheSessionOfAnEphemeral) {
    client c = connect();
    mutex m(c, path_);
    const hold h = m.acquire();
    const auto stat = c.exists(h.path());
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->owner, c.session_id());
    EXPECT_EQ(stat->czxid, h.token().zxid);
}

TEST_P(ClientRead, MissingZnodeIsNothingAndHasNoChildren) {
    client c = connect();
    for (const auto from : both) {
        EXPECT_EQ(c.get(at_, from), std::nullopt);
        EXPECT_EQ(c.exists(at_, from), std::nullopt);
        std::error_code ec;
        EXPECT_THAT(c.children(at_, from, ec), IsEmpty());
        EXPECT_EQ(ec, errc::no_such_znode);
        EXPECT_EQ(c.get(at_, from, ec), std::nullopt);
        EXPECT_FALSE(ec);
        try {
            static_cast<void>(c.children(at_, from));
            ADD_FAILURE() << "no error";
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::no_such_znode);
            EXPECT_NE(std::string(e.what()).find(at_), std::string::npos) << e.what();
        }
    }
}

TEST_P(ClientRead, QuorumReadSeesWhatAnotherClientHasWritten) {
    client a = connect();
    client b = connect();
    a.transact({operation::create(at_, "0")});
    for (int i = 1; i <= 200; ++i) {
        const std::string now = std::to_string(i);
        a.transact({operation::set(at_, now)});
        const auto seen = b.get(at_, read_from::quorum);
        ASSERT_TRUE(seen);
        ASSERT_EQ(seen->data, now);
        ASSERT_EQ(b.exists(at_, read_from::quorum)->version, i);
    }
}

TEST_P(ClientRead, ReadsWhatItHasWritten) {
    client c = connect();
    for (int i = 0; i < 50; ++i) {
        const std::string name = std::to_string(1000 + i);
        c.transact({operation::create(i == 0 ? at_ : at_ + '/' + name)});
        ASSERT_EQ(c.children(at_).size(), std::size_t(i));
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
    client c = connect();
    world_->create(at_, "x");
    world_->create(at_ + "/child");
    blocking_result<std::pair<std::error_code, std::optional<znode>>> got;
    c.async_get(at_, read_from::quorum, [&](std::error_code ec, std::optional<znode> z) {
        EXPECT_THROW(static_cast<void>(c.get(at_)), error) << "would deadlock";
        got.set({ec, std::move(z)});
    });
    const auto [failed, z] = got.get();
    EXPECT_FALSE(failed);
    ASSERT_TRUE(z);
    EXPECT_EQ(z->data, "x");
    blocking_result<std::optional<znode_stat>> existed;
    c.async_exists(at_, read_from::any_server, [&](std::error_code, auto s) { existed.set(s); });
    EXPECT_EQ(existed.get(), z->stat);
    blocking_result<std::vector<std::string>> listed;
    c.async_children(at_, read_from::any_server, [&](std::error_code, auto names) {
        listed.set(std::move(names));
    });
    EXPECT_THAT(listed.get(), ElementsAre("child"));
    blocking_result<std::error_code> refused;
    c.async_children(at_ + "-missing", read_from::quorum, [&](std::error_code ec, const auto&) {
        refused.set(ec);
    });
    EXPECT_EQ(refused.get(), errc::no_such_znode);
}

TEST_P(ClientRead, BadPathsAreRefusedBeforeAnythingIsSent) {
    client c = connect();
    const std::string too_long = '/' + std::string(2000, 'x');
    for (const std::string& bad : {std::string(), std::string("a"), std::string("/a/"), too_long}) {
        std::error_code ec;
        EXPECT_EQ(c.get(bad, read_from::any_server, ec), std::nullopt);
        EXPECT_EQ(ec, errc::invalid_argument);
        EXPECT_EQ(c.exists(bad, read_from::quorum, ec), std::nullopt);
        EXPECT_EQ(ec, errc::invalid_argument);
        EXPECT_THROW(static_cast<void>(c.children(bad)), error);
        blocking_result<std::error_code> told;
        c.async_get(
            bad, read_from::any_server, [&](std::error_code e, const auto&) { told.set(e); });
        EXPECT_EQ(told.get(), errc::invalid_argument);
        blocking_result<std::error_code> refused;
        c.async_transact({operation::create(bad)},
                         [&](std::error_code e, const auto&) { refused.set(e); });
        EXPECT_EQ(refused.get(), errc::invalid_argument);
    }
}

TEST_P(ClientRead, AccessControlListRefusesToReadAndOnNewerServersToAskWhetherItExists) {
    client_options identified = patient();
    identified.auth = {{.scheme = "digest", .secret = "alice:secret"}};
    client alice = world_->connect(identified);
    alice.transact({operation::create(at_, "hers")});
    client anybody = connect();
    for (const auto from : both) {
        catch_up(anybody);
        EXPECT_EQ(alice.get(at_, from)->data, "hers");
        std::error_code ec;
        EXPECT_EQ(anybody.get(at_, from, ec), std::nullopt);
        EXPECT_EQ(ec, errc::not_authorized);
        EXPECT_THAT(anybody.children(at_, from, ec), IsEmpty());
        EXPECT_EQ(ec, errc::not_authorized);
        EXPECT_EQ(anybody.exists(at_, from, ec).has_value(), !world_->exists_needs_read());
        EXPECT_EQ(ec == errc::not_authorized, world_->exists_needs_read());
    }
}

TEST_P(ClientRead, ClientThatIsClosedOrMovedFromSaysSo) {
    client c = connect();
    client moved = std::move(c);
    std::error_code ec;
    EXPECT_EQ(c.get(at_, read_from::any_server, ec), std::nullopt);  // NOLINT: it is defined
    EXPECT_EQ(ec, errc::closed);
    moved.close();
    EXPECT_EQ(moved.get(at_, read_from::quorum, ec), std::nullopt);
    EXPECT_EQ(ec, errc::closed);
    EXPECT_THAT(moved.transact({operation::create(at_)}, ec), IsEmpty());
    EXPECT_EQ(ec, errc::closed);
}

TEST_P(ClientRead, ReadsInTheNextSession) {
    client c = connect();
    world_->create(at_, "x");
    ASSERT_TRUE(c.wait_connected(30s));
    world_->expire(c.session_id());
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(c.get(at_, read_from::quorum)->data, "x");
    }
}

// ---- transactions without a hold ----

TEST_P(ClientRead, TransactionCommitsAllAndTellsVersionsAndItsNumber) {
    client c = connect();
    const auto results = c.transact({operation::create(at_, "1"),
                                     operation::set(at_, "2", 0),
                                     operation::set(at_, "3"),
                                     operation::check(at_, 2)});
    const auto found = c.get(at_);
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
    client c = connect();
    const std::string missing = world_->fresh_path();
    try {
        c.transact({operation::create(at_), operation::set(missing, "x")});
        ADD_FAILURE() << "committed";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::no_such_znode);
        EXPECT_NE(std::string(e.what()).find("operation 2 on \"" + missing), std::string::npos)
            << e.what();
    }
    EXPECT_EQ(c.exists(at_), std::nullopt);
    std::error_code ec;
    EXPECT_THAT(c.transact({}, ec), IsEmpty());
    EXPECT_EQ(ec, errc::invalid_argument);
    EXPECT_THAT(c.transact({operation::create("no/slash")}, ec), IsEmpty());
    EXPECT_EQ(ec, errc::invalid_argument);
    EXPECT_THAT(c.transact({operation::create(at_, std::string(2'000'000, 'x'))}, ec), IsEmpty());
    EXPECT_EQ(ec, errc::invalid_argument);
    c.transact({operation::create(at_)}, ec);
    EXPECT_FALSE(ec);
    c.transact({operation::create(at_)}, ec);
    EXPECT_EQ(ec, errc::znode_exists);
}

LATCHKEY_IN_THIS_WORLD(ClientRead);

}  // namespace
}  // namespace latchkey::test
