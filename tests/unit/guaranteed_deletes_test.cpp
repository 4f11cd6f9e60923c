#include "client/guaranteed_deletes.hpp"

#include "ensemble/virtual/virtual_loop.hpp"
#include "story.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

class GuaranteedDeletes : public ::testing::Test {
protected:
    void answer(std::size_t which, result_code code) {
        reply r;
        r.code = code;
        sent.at(which).second(std::move(r));
    }

    void answer_last(result_code code) { answer(sent.size() - 1, code); }

    guaranteed_deletes::gone_handler tells(const std::string& name) {
        return
            [this, name](bool confirmed) { seen.add(name + (confirmed ? " gone" : " unknown")); };
    }

    /// Until the pauses are as long as they get.
    void refuse_for_long() {
        for (int i = 0; i < 12; ++i) {
            answer_last(result_code::no_auth);
            loop->run_for(5s);
        }
    }

    const std::shared_ptr<virtual_loop> loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    std::vector<std::pair<request, session::completion>> sent;
    trace seen;
    guaranteed_deletes deletes{
        *loop,
        [this](request r, session::completion done) {
            seen.add("send " + r.path);
            sent.emplace_back(std::move(r), std::move(done));
        },
        [this](const std::string& path, result_code code) {
            seen.add("report " + path + ' ' + std::to_string(static_cast<int>(code)));
        },
        [this] { seen.add("emptied"); }};
};

class GuaranteedDeletesStory : public GuaranteedDeletes,
                               public ::testing::WithParamInterface<told_story> {
protected:
    const std::map<std::string, result_code> codes{{"ok", result_code::ok},
                                                   {"none", result_code::no_node},
                                                   {"lost", result_code::connection_loss},
                                                   {"closed", result_code::no_auth},
                                                   {"full", result_code::not_empty}};

    const story_verbs verbs{
        {"connected", [this](const auto&) { deletes.connected(); }},
        {"suspended", [this](const auto&) { deletes.suspended(); }},
        {"add", [this](const auto& s) { deletes.add(s[1], tells(s.back())); }},
        {"add_both",
         [this](const auto& s) {
             deletes.add(std::vector{s[1], s[2]}, tells("both"));
         }},
        {"swaps", [this](const auto& s) { deletes.note_swap(s[1], {s[2]}); }},
        {"has_swapped", [this](const auto& s) { deletes.forget_swap(s[1]); }},
        {"is_not_there", [this](const auto& s) { deletes.delete_swapped(s[1]); }},
        {"answer", [this](const auto& s) { answer(std::stoul(s[1]), codes.at(s[2])); }},
        {"pass", [this](const auto& s) { loop->run_for(seconds_in(s[1])); }},
        {"session_over", [this](const auto&) { deletes.session_ended(true); }},
        {"client_closes", [this](const auto&) { deletes.session_ended(false); }},
        {"is_empty", [this](const auto&) { EXPECT_TRUE(deletes.empty()); }},
        {"is_not_empty", [this](const auto&) { EXPECT_FALSE(deletes.empty()); }}};
};

TEST_P(GuaranteedDeletesStory, ComesToThis) {
    play(GetParam().story, verbs);
    EXPECT_EQ(seen.text(), GetParam().comes_of_it);
}

const told_story delete_stories[] = {
    {"SendsAtOnceWhileConnected", "connected, add /a, is_not_empty", "send /a"},
    {"KeepsForTheNextConnectionWhatComesWhileThereIsNone",
     "add /a, pass 60, is_not_empty, connected, is_not_empty",
     "send /a"},
    {"SendsAgainOnTheNextConnectionWhatWasLostWithOne",
     // The first one had been applied.
     "connected, add /a, add /b, suspended, answer 0 lost, answer 1 lost, pass 60, connected, "
     "answer 2 none, answer 3 ok, is_empty",
     "send /a, send /b, send /a, send /b, /a gone, /b gone, emptied"},
    {"DoesNotSendWhileSuspendedEvenIfARetryWasDue",
     "connected, add /a, answer 0 closed, suspended, pass 3600, connected",
     "send /a, report /a -102, send /a"},
    {"ReportsARefusalOnceForEachZnode",
     "connected, add /a, add /b, answer 0 closed, answer 1 full, pass 0.05, answer 2 closed, "
     "answer 3 closed",
     "send /a, send /b, report /a -102, report /b -111, send /a, send /b"},
    {"DeletesOneZnodeOnceForAllThatAsk",
     "connected, add /a first, add /a second, answer 0 ok, is_empty",
     "send /a, first gone, second gone, emptied"},
    {"AsksAgainAtOnceForARefusedZnodeThatIsAddedAgain",
     "connected, add /a first, answer 0 closed, add /a second, answer 1 ok, pass 60",
     "send /a, report /a -102, send /a, first gone, second gone, emptied"},
    {"CompletesAllWhenTheSessionEnds",
     // The caller ends the session and is not notified of it. The last answer is late.
     "connected, add /a, add /b, answer 1 closed, session_over, is_empty, answer 0 lost, "
     "pass 3600, connected",
     "send /a, send /b, report /b -102, /a gone, /b gone"},
    {"CompletesWhatWasNeverSentWhenTheSessionEnds",
     "add /a, session_over, is_empty, connected",
     "/a gone"},
    {"ConfirmsOnlyWhatWasAnsweredWhenTheClientCloses",
     // Of two in one request, each is deleted by itself once one is found missing.
     "connected, add /a, add /b, add_both /c /d, answer 0 ok, answer 2 none, answer 3 ok, "
     "client_closes",
     "send /a, send /b, send , /a gone, send /c, send /d, /b unknown, both unknown"},
    {"ReportsEachTimeThatTheLastOneIsDone",
     "connected, add /a, answer 0 ok, add /a, answer 1 ok",
     "send /a, /a gone, emptied, send /a, /a gone, emptied"},
    {"DeletesWhatMayComeInThePlaceOfAZnodeOnceThatIsGone",
     "connected, swaps /a /b, add /a, answer 0 lost, pass 1, answer 1 none, answer 2 none, "
     "is_empty",
     "send /a, send /a, send /b, /a gone, emptied"},
    {"DeletesAllThatMayComeInItsPlace",
     "connected, swaps /a /b, swaps /a /c, is_not_there /a, answer 0 none, answer 1 ok, is_empty",
     "send /a, send , emptied"},
    {"DeletesNothingInThePlaceOfAZnodeAfterThatWasAnsweredOrTheSessionIsOver",
     "connected, swaps /a /b, has_swapped /a, is_not_there /a, add /a, answer 0 ok, swaps /c /d, "
     "session_over, connected, add /c, answer 1 none",
     "send /a, /a gone, emptied, send /c, /c gone, emptied"},
};

INSTANTIATE_TEST_SUITE_P(,
                         GuaranteedDeletesStory,
                         ::testing::ValuesIn(delete_stories),
                         [](const auto& tested) { return tested.param.name; });

TEST_F(GuaranteedDeletes, RemovesWhateverVersionThereIs) {
    deletes.connected();
    deletes.add("/a", nullptr);
    ASSERT_THAT(sent, SizeIs(1));
    EXPECT_EQ(sent[0].first.what, request::kind::remove);
    EXPECT_EQ(sent[0].first.version, request::any_version);
}

TEST_F(GuaranteedDeletes, EndWhenTheZnodeIsProvenGone) {
    deletes.connected();
    for (const result_code proof : {result_code::ok, result_code::no_node}) {
        seen = {};
        deletes.add("/a", tells("/a"));
        answer_last(proof);
        EXPECT_TRUE(deletes.empty());
        loop->run_for(1h);
        EXPECT_EQ(seen.text(), "send /a, /a gone, emptied") << static_cast<int>(proof);
    }
}

TEST_F(GuaranteedDeletes, GoOnAfterEveryOtherAnswer) {
    using enum result_code;
    deletes.connected();
    for (const auto& [code, is_refusal] : {std::pair{connection_loss, false},
                                           {operation_timeout, false},
                                           {runtime_inconsistency, false},
                                           {session_expired, false},
                                           {closing, false},
                                           {no_auth, true},
                                           {not_empty, true},
                                           {bad_version, true},
                                           {throttled, true},
                                           {session_moved, true},
                                           {invalid_state, true},
                                           {static_cast<result_code>(-999), true}}) {
        SCOPED_TRACE(static_cast<int>(code));
        sent.clear();
        seen = {};
        deletes.add("/a", tells("/a"));
        for (std::size_t attempt = 1; attempt <= 10; ++attempt) {
            ASSERT_THAT(sent, SizeIs(attempt));
            answer_last(code);
            EXPECT_THAT(sent, SizeIs(attempt)) << "sent again at once";
            loop->run_for(5s);
        }
        EXPECT_FALSE(deletes.empty());
        answer_last(ok);
        const std::string report = "report /a " + std::to_string(static_cast<int>(code));
        std::string expected = is_refusal ? "send /a, " + report : "send /a";
        for (int i = 0; i < 10; ++i) {
            expected += ", send /a";
        }
        EXPECT_EQ(seen.text(), expected + ", /a gone, emptied");
    }
}

TEST_F(GuaranteedDeletes, BackOffUpToFiveSeconds) {
    deletes.connected();
    deletes.add("/a", nullptr);
    std::vector<std::chrono::nanoseconds> waits;
    for (int i = 0; i < 12; ++i) {
        const std::size_t before = sent.size();
        const auto refused = loop->now();
        answer_last(result_code::no_auth);
        ASSERT_TRUE(loop->run_until([&] { return sent.size() > before; }, 1min));
        waits.push_back(loop->now() - refused);
    }
    EXPECT_GE(waits.front(), 25ms);
    EXPECT_LE(waits.front(), 50ms);
    EXPECT_GE(waits.back(), 2500ms);
    EXPECT_LE(waits.back(), 5s);
}

TEST_F(GuaranteedDeletes, RefusedForGoodDoNotDelayOthers) {
    deletes.connected();
    deletes.add("/a", nullptr);
    refuse_for_long();
    deletes.add("/b", nullptr);
    const std::size_t before = sent.size();
    answer(before - 2, result_code::no_auth);
    answer_last(result_code::throttled);
    loop->run_for(50ms);
    ASSERT_THAT(sent, SizeIs(before + 1));
    EXPECT_EQ(sent.back().first.path, "/b");
}

TEST_F(GuaranteedDeletes, AreQuickAgainAfterTheNextConnection) {
    deletes.connected();
    deletes.add("/a", nullptr);
    refuse_for_long();
    deletes.suspended();
    answer_last(result_code::connection_loss);
    deletes.connected();
    const std::size_t before = sent.size();
    answer_last(result_code::no_auth);
    loop->run_for(50ms);
    EXPECT_THAT(sent, SizeIs(before + 1));
}

TEST_F(GuaranteedDeletes, CallHandlersThatMayAskForMore) {
    deletes.connected();
    deletes.add("/a", [this](bool) { deletes.add("/b", tells("/b")); });
    answer(0, result_code::ok);
    answer(1, result_code::ok);
    EXPECT_EQ(seen.text(), "send /a, send /b, /b gone, emptied");
}

TEST_F(GuaranteedDeletes, CallHandlersThatMayAskForMoreWhenTheSessionEnds) {
    deletes.connected();
    deletes.add("/a", [this](bool) { deletes.add("/a", tells("again")); });
    deletes.session_ended(true);
    deletes.connected();  // another session: it is not there
    answer_last(result_code::no_node);
    EXPECT_EQ(seen.text(), "send /a, send /a, again gone, emptied");
}

}  // namespace
}  // namespace latchkey::test
