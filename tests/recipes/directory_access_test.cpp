#include <latchkey/group.hpp>
#include <latchkey/semaphore.hpp>

#include "cost_test.hpp"
#include "notebook.hpp"

#include <string>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Clients with an identity, and others, on paths that they share.
class DirectoryAccess : public CostTest {
protected:
    client_options alice() {
        client_options how{.session_timeout = 12s};
        how.auth = {{.scheme = "digest", .secret = "alice:secret"}};
        how.log = [this](const log_record& line) {
            lines_.note(std::string(line.id) + " " + std::string(line.path));
        };
        return how;
    }

    /// Whether a client without an identity gets a lock.
    bool stranger_gets(const std::string& path) {
        client c = connected();
        mutex m(c, path);
        const auto a = acquire(m, 1s);
        ensemble_.run_until([&] { return a->done; }, 5s);
        return static_cast<bool>(a->granted);
    }

    notebook<std::string> lines_;
};

TEST_F(DirectoryAccess, OfParentsThatARecipeHasCreatedIsThatOfTheLevelAbove) {
    client c = connected(alice());
    mutex m(c, "/p/q/lock");
    semaphore s(c, "/s/q/permits", 2);
    const hold h = held(m);
    const hold permit = held(s, 1U);
    for (const char* open : {"/p/other", "/p/q/other", "/s/other", "/s/q/other"}) {
        EXPECT_TRUE(stranger_gets(open)) << open;
    }
    EXPECT_FALSE(stranger_gets("/p/q/lock"));
    EXPECT_THAT(lines_.all(), IsEmpty());
}

TEST_F(DirectoryAccess, OfAGroupThatAWatcherHasCreatedIsThatOfItsMembers) {
    client a = connected(alice());
    client b = connected();
    const group_options how{.access = acl{{"world", "anyone", permission::all}}};
    group watched(a, "/group", how);
    const subscription s = watched.on_change([](const auto&) {});
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.exists("/group"); }, 5s));
    group joined(b, "/group", how);
    std::error_code why = errc::closed;
    joined.async_join("name", without_limit, {}, [&](std::error_code ec, membership) { why = ec; });
    ensemble_.run_for(1s);
    EXPECT_FALSE(why) << why.message();
}

TEST_F(DirectoryAccess, ThatIsOpenToEveryoneIsReportedOnceForEachPath) {
    for (const auto limit : {without_limit, std::chrono::nanoseconds(0)}) {
        lines_.clear();
        ASSERT_TRUE(stranger_gets("/open/jobs"));
        client c = connected(alice());
        for (int i = 0; i < 2; ++i) {
            mutex m(c, "/open/jobs");
            const auto a = finished(acquire(m, limit));
            EXPECT_TRUE(a->granted);
            a->granted.release();
            ensemble_.run_for(1s);
        }
        EXPECT_THAT(lines_.all(), ElementsAre("open-directory /open/jobs")) << limit.count();
    }
}

TEST_F(DirectoryAccess, CostsARoundTripMoreWhereParentsAreMissingAndNoneElsewhere) {
    client c = connected(alice());
    const auto time_of = [&](const std::string& path) {
        mutex m(c, path);
        settle();
        return took(finished(acquire(m)));
    };
    EXPECT_EQ(time_of("/lock"), round_trip);
    EXPECT_EQ(time_of("/a/b/c"), 2 * round_trip);
    EXPECT_EQ(time_of("/a/b/d"), round_trip);
    mutex m(c, "/a/b/c");
    held(m).release();
    settle();
    held(m).release();
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.count().requests(), 3U) << "as without an identity";
}

}  // namespace
}  // namespace latchkey::test
