#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "seeing_fixture.hpp"

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class TreeCommand : public seeing_fixture {};

TEST_F(TreeCommand, ListsAllLocksBelowAPath) {
    mutex first(one_, path_ + "/jobs/nightly");
    shared_mutex second(one_, path_ + "/files");
    const hold one = first.acquire();
    const hold two = second.acquire(lock_mode::shared);
    const hold three = second.acquire(lock_mode::shared);
    const auto tree = run("tree", {path_});
    EXPECT_EQ(tree->wait(), 0) << tree->err();
    EXPECT_THAT(tree->out(),
                AllOf(HasSubstr("KIND "),
                      HasSubstr(path_ + "/jobs/nightly  "),
                      HasSubstr(path_ + "/files  "),
                      HasSubstr(" and 1 more")));
    const auto as_json = run("tree", {"--json", path_});
    EXPECT_EQ(as_json->wait(), 0);
    const auto all = objects_in(as_json->out());
    ASSERT_THAT(all, SizeIs(3));
    EXPECT_EQ(all[0]["type"], "lock");
    EXPECT_EQ(all[0]["path"], path_ + "/files");
    EXPECT_EQ(all[0]["holders"], 2);
    EXPECT_EQ(all[1]["kind"], "mutex");
    EXPECT_EQ(all[2]["type"], "end");
    EXPECT_EQ(all[2]["locks"], 2);
    EXPECT_EQ(all[2]["ending"], "complete");
}

TEST_F(TreeCommand, NamesPathsThatMayNotBeRead) {
    put(path_);
    put(path_ + "/secret",
        {},
        create_mode::persistent,
        {{"digest", "nobody:0000000000000000000000000000"}});
    mutex m(one_, path_ + "/open");
    const hold h = m.acquire();
    const auto tree = run("tree", {path_});
    EXPECT_EQ(tree->wait(), 0);
    EXPECT_THAT(tree->out(), AllOf(HasSubstr("unreadable"), HasSubstr(path_ + "/secret")));
    EXPECT_EQ(run("tree", {path_ + "/secret"})->wait(), 77);
}

TEST_F(TreeCommand, SaysThatThereIsNothingOrThatItIsNotComplete) {
    EXPECT_EQ(run("tree", {path_ + "-none"})->wait(), 1);
    mutex m(one_, path_ + "/a/b/c");
    const hold h = m.acquire();
    const auto cut = run("tree", {"--max-depth", "1", path_});
    EXPECT_EQ(cut->wait(), 65);
    EXPECT_THAT(cut->err(), HasSubstr("--max-depth"));
    const auto few = run("tree", {"--max-znodes", "1", path_});
    EXPECT_EQ(few->wait(), 65);
    EXPECT_THAT(few->err(), HasSubstr("--max-znodes"));
    EXPECT_THAT(few->out(), Not(HasSubstr("mutex")));
    EXPECT_EQ(run("tree", {"--max-depth", "x"})->wait(), 64);
    EXPECT_EQ(run("tree", {"/a", "/b"})->wait(), 64);
}

}  // namespace
}  // namespace latchkey::test
