#include "client/directory_lists.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DirectoryLists : public ::testing::Test {
protected:
    struct sent_request {
        request what;
        session::completion done;
    };

    /// Asks; what happens is noted under `name`.
    void ask(const std::string& name, const std::string& directory) {
        lists.ask({.directory = directory,
                   .answered =
                       [this, name](const directory_lists::answer& a) {
                           told.push_back(name + ": " +
                                          (a->names.empty() ? "nothing" : a->names.front()));
                           last = a;
                       },
                   .sent = [this, name] { told.push_back(name + " sent"); }});
    }

    void answer(std::size_t which, const std::string& name, result_code code = result_code::ok) {
        reply r;
        r.code = code;
        r.names.push_back(name);
        sent.at(which).done(std::move(r));
    }

    std::vector<sent_request> sent;
    std::vector<std::string> told;
    directory_lists::answer last;
    int delayed = 0;  ///< lists
    directory_lists lists{[this](request r, session::completion done) {
                              sent.push_back({std::move(r), std::move(done)});
                          },
                          [this](bool more) { delayed += more ? 1 : -1; }};
};

TEST_F(DirectoryLists, AreSentAtOnce) {
    ask("a", "/d");
    ASSERT_THAT(sent, SizeIs(1));
    EXPECT_EQ(sent[0].what.what, request::kind::children);
    EXPECT_EQ(sent[0].what.path, "/d");
    EXPECT_THAT(told, ElementsAre("a sent"));
    answer(0, "x");
    EXPECT_THAT(told, ElementsAre("a sent", "a: x"));
}

TEST_F(DirectoryLists, AreNotSharedByWhoAskedAfterTheyWereSent) {
    ask("a", "/d");
    ask("b", "/d");
    ask("c", "/d");
    EXPECT_THAT(sent, SizeIs(1));
    EXPECT_THAT(told, ElementsAre("a sent"));
    answer(0, "old");
    EXPECT_THAT(told, ElementsAre("a sent", "a: old", "b sent", "c sent"));
    ASSERT_THAT(sent, SizeIs(2));
    answer(1, "new");
    EXPECT_THAT(told, ElementsAre("a sent", "a: old", "b sent", "c sent", "b: new", "c: new"));
    EXPECT_THAT(sent, SizeIs(2));
}

TEST_F(DirectoryLists, OfOtherDirectoriesDoNotWait) {
    ask("a", "/d");
    ask("b", "/e");
    EXPECT_THAT(sent, SizeIs(2));
}

TEST_F(DirectoryLists, WhoAsksAgainWhenAnsweredSharesTheNextOne) {
    lists.ask({.directory = "/d", .answered = [this](const auto&) { ask("again", "/d"); }});
    ask("b", "/d");
    answer(0, "x");
    ASSERT_THAT(sent, SizeIs(2));
    answer(1, "y");
    EXPECT_THAT(told, ElementsAre("b sent", "again sent", "b: y", "again: y"));
    EXPECT_THAT(sent, SizeIs(2));
}

TEST_F(DirectoryLists, AreHandedToTheSessionWhenTheConnectionIsGone) {
    ask("a", "/d");
    ask("b", "/d");
    lists.suspended();
    ASSERT_THAT(sent, SizeIs(2));  // it comes behind what "b" sent before it asked
    ask("c", "/d");
    ASSERT_THAT(sent, SizeIs(3)) << "nothing is known of the next connection yet";
    answer(0, "x", result_code::connection_loss);
    answer(1, "x", result_code::connection_loss);
    EXPECT_EQ(last->code, result_code::connection_loss);
    EXPECT_THAT(sent, SizeIs(3));
    answer(2, "y");
    EXPECT_THAT(told, ElementsAre("a sent", "b sent", "c sent", "a: x", "b: x", "c: y"));
}

TEST_F(DirectoryLists, OfVeryManyDirectoriesComeOneAfterTheOther) {
    constexpr std::size_t most = directory_lists::most_in_flight;
    for (std::size_t i = 0; i < most + 2; ++i) {
        ask(std::to_string(i), "/" + std::to_string(i));
    }
    ask("shared", "/" + std::to_string(most));
    EXPECT_THAT(sent, SizeIs(most));
    EXPECT_EQ(delayed, 2) << "the lists of two directories";
    answer(0, "x");
    ASSERT_THAT(sent, SizeIs(most + 1));
    EXPECT_EQ(delayed, 1);
    EXPECT_EQ(sent.back().what.path, "/" + std::to_string(most));
    answer(1, "x");
    EXPECT_THAT(sent, SizeIs(most + 2));
    told.clear();
    answer(most, "x");
    EXPECT_THAT(told, ElementsAre(std::to_string(most) + ": x", "shared: x"));
    for (std::size_t i = 2; i < most; ++i) {
        answer(i, "x");
    }
    answer(most + 1, "x");
    EXPECT_THAT(sent, SizeIs(most + 2));
}

TEST_F(DirectoryLists, ThatWaitBehindManyAreHandedOverToo) {
    constexpr std::size_t most = directory_lists::most_in_flight;
    for (std::size_t i = 0; i < most + 1; ++i) {
        ask(std::to_string(i), "/" + std::to_string(i));
    }
    EXPECT_EQ(delayed, 1);
    lists.suspended();
    EXPECT_THAT(sent, SizeIs(most + 1));
    EXPECT_EQ(delayed, 0);
}

}  // namespace
}  // namespace latchkey
