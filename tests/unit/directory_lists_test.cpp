#include "directories/directory_lists.hpp"

#include "story.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::SizeIs;

class DirectoryLists : public ::testing::Test {
protected:
    /// Asks; what happens is noted under `name`.
    void ask(const std::string& name, const std::string& directory) {
        lists.ask({.directory = directory,
                   .answered =
                       [this, name](const directory_lists::answer& a) {
                           seen.add(name + " has " + a->names.front());
                           last = a;
                       },
                   .sent = [this, name] { seen.add(name + " sent"); }});
    }

    void answer(std::size_t which, const std::string& name, result_code code = result_code::ok) {
        reply r;
        r.code = code;
        r.names.push_back(name);
        sent.at(which).second(std::move(r));
    }

    std::vector<std::pair<request, session::completion>> sent;
    trace seen;
    directory_lists::answer last;
    int delayed = 0;  ///< lists
    directory_lists lists{[this](request r, session::completion done) {
                              seen.add("lists " + r.path);
                              sent.emplace_back(std::move(r), std::move(done));
                          },
                          [this](bool more) { delayed += more ? 1 : -1; }};
    const story_verbs verbs{
        {"ask", [this](const auto& s) { ask(s[1], s[2]); }},
        {"answer", [this](const auto& s) { answer(std::stoul(s[1]), s[2]); }},
        {"lose",
         [this](const auto& s) { answer(std::stoul(s[1]), "x", result_code::connection_loss); }},
        {"suspended", [this](const auto&) { lists.suspended(); }}};
};

TEST_F(DirectoryLists, AreNotSharedByThoseThatAskAfterTheyWereSent) {
    play("ask a /d, ask b /d, ask c /d, answer 0 old, answer 1 new", verbs);
    EXPECT_EQ(sent[0].first.what, request::kind::children);
    EXPECT_EQ(seen.text(),
              "lists /d, a sent, a has old, lists /d, b sent, c sent, b has new, c has new");
}

TEST_F(DirectoryLists, OfOtherDirectoriesDoNotWait) {
    play("ask a /d, ask b /e", verbs);
    EXPECT_EQ(seen.text(), "lists /d, a sent, lists /e, b sent");
}

TEST_F(DirectoryLists, AreSharedByOneThatAsksAgainWhenAnswered) {
    lists.ask({.directory = "/d", .answered = [this](const auto&) { ask("again", "/d"); }});
    play("ask b /d, answer 0 x, answer 1 y", verbs);
    EXPECT_EQ(seen.text(), "lists /d, lists /d, b sent, again sent, b has y, again has y");
}

// The list of "b" comes behind what "b" sent before it asked. Of the next connection nothing is
// known yet, so "c" does not wait for it.
TEST_F(DirectoryLists, AreHandedToTheSessionWhenTheConnectionIsGone) {
    play("ask a /d, ask b /d, suspended, ask c /d, lose 0, lose 1", verbs);
    EXPECT_EQ(last->code, result_code::connection_loss);
    play("answer 2 y", verbs);
    EXPECT_EQ(seen.text(),
              "lists /d, a sent, lists /d, b sent, lists /d, c sent, a has x, b has x, c has y");
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
    EXPECT_EQ(sent.back().first.path, "/" + std::to_string(most));
    answer(1, "x");
    EXPECT_THAT(sent, SizeIs(most + 2));
    seen = {};
    answer(most, "x");
    EXPECT_EQ(seen.text(), std::to_string(most) + " has x, shared has x");
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
}  // namespace latchkey::test
