#include "client/guaranteed_deletes.hpp"

#include "ensemble/virtual/virtual_loop.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class GuaranteedDeletes : public ::testing::Test {
protected:
    struct sent_delete {
        request what;
        session::completion done;
    };

    void answer(std::size_t which, result_code code) {
        reply r;
        r.code = code;
        sent.at(which).done(std::move(r));
    }

    void answer_last(result_code code) { answer(sent.size() - 1, code); }

    guaranteed_deletes::gone_handler tells(const std::string& name) {
        return [this, name](bool confirmed) { gone.push_back(confirmed ? name : name + "?"); };
    }

    [[nodiscard]] std::vector<std::string> paths() const {
        std::vector<std::string> all;
        for (const sent_delete& s : sent) {
            all.push_back(s.what.path);
        }
        return all;
    }

    const std::shared_ptr<virtual_loop> loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    std::vector<sent_delete> sent;
    std::vector<std::pair<std::string, result_code>> reported;
    std::vector<std::string> gone;
    int emptied = 0;
    guaranteed_deletes deletes{
        *loop,
        [this](request r, session::completion done) {
            sent.push_back({std::move(r), std::move(done)});
        },
        [this](const std::string& path, result_code code) { reported.emplace_back(path, code); },
        [this] { ++emptied; }};
};

TEST_F(GuaranteedDeletes, SendsAtOnceWhileConnected) {
    deletes.connected();
    deletes.add("/a", tells("a"));
    ASSERT_THAT(sent, SizeIs(1));
    EXPECT_EQ(sent[0].what.what, request::kind::remove);
    EXPECT_EQ(sent[0].what.path, "/a");
    EXPECT_EQ(sent[0].what.version, request::any_version);
    EXPECT_FALSE(deletes.empty());
    EXPECT_THAT(gone, IsEmpty());
}

TEST_F(GuaranteedDeletes, KeepsForTheNextConnectionWhatComesWhileThereIsNone) {
    deletes.add("/a", tells("a"));
    loop->run_for(1min);
    EXPECT_THAT(sent, IsEmpty());
    EXPECT_FALSE(deletes.empty());
    deletes.connected();
    EXPECT_THAT(paths(), ElementsAre("/a"));
}

struct ending {
    const char* name;
    result_code code;
};

class GuaranteedDeleteEnds : public GuaranteedDeletes,
                             public ::testing::WithParamInterface<ending> {};

TEST_P(GuaranteedDeleteEnds, WhenTheZnodeIsProvenGone) {
    deletes.connected();
    deletes.add("/a", tells("a"));
    answer(0, GetParam().code);
    EXPECT_THAT(gone, ElementsAre("a"));
    EXPECT_EQ(emptied, 1);
    EXPECT_TRUE(deletes.empty());
    EXPECT_THAT(reported, IsEmpty());
    loop->run_for(1h);
    EXPECT_THAT(sent, SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(Table,
                         GuaranteedDeleteEnds,
                         ::testing::Values(ending{"Deleted", result_code::ok},
                                           ending{"WasNotThere", result_code::no_node}),
                         [](const auto& tested) { return std::string(tested.param.name); });

struct setback {
    const char* name;
    result_code code;
    bool is_refusal;
};

class GuaranteedDeleteGoesOn : public GuaranteedDeletes,
                               public ::testing::WithParamInterface<setback> {};

TEST_P(GuaranteedDeleteGoesOn, AfterEveryOtherAnswer) {
    deletes.connected();
    deletes.add("/a", tells("a"));
    for (std::size_t attempt = 0; attempt < 10; ++attempt) {
        ASSERT_THAT(sent, SizeIs(attempt + 1));
        answer(attempt, GetParam().code);
        EXPECT_THAT(sent, SizeIs(attempt + 1)) << "sent again at once";
        loop->run_for(5s);
    }
    EXPECT_THAT(gone, IsEmpty());
    EXPECT_EQ(emptied, 0);
    EXPECT_FALSE(deletes.empty());
    if (GetParam().is_refusal) {
        EXPECT_THAT(reported, ElementsAre(Pair("/a", GetParam().code)));
    } else {
        EXPECT_THAT(reported, IsEmpty());
    }
    answer_last(result_code::ok);
    EXPECT_THAT(gone, ElementsAre("a"));
    EXPECT_EQ(emptied, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    GuaranteedDeleteGoesOn,
    ::testing::Values(setback{"ConnectionLoss", result_code::connection_loss, false},
                      setback{"OperationTimeout", result_code::operation_timeout, false},
                      setback{"RuntimeInconsistency", result_code::runtime_inconsistency, false},
                      setback{"SessionExpired", result_code::session_expired, false},
                      setback{"Closing", result_code::closing, false},
                      setback{"NoAuth", result_code::no_auth, true},
                      setback{"NotEmpty", result_code::not_empty, true},
                      setback{"BadVersion", result_code::bad_version, true},
                      setback{"Throttled", result_code::throttled, true},
                      setback{"SessionMoved", result_code::session_moved, true},
                      setback{"InvalidState", result_code::invalid_state, true},
                      setback{"Unknown", static_cast<result_code>(-999), true}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(GuaranteedDeletes, BacksOffUpToFiveSeconds) {
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

TEST_F(GuaranteedDeletes, OneThatIsRefusedForGoodKeepsNoOtherOneWaiting) {
    deletes.connected();
    deletes.add("/a", nullptr);
    for (int i = 0; i < 12; ++i) {
        answer_last(result_code::no_auth);
        loop->run_for(5s);
    }
    deletes.add("/b", nullptr);
    const std::size_t before = sent.size();
    answer(before - 2, result_code::no_auth);
    answer_last(result_code::throttled);
    loop->run_for(50ms);
    ASSERT_THAT(sent, SizeIs(before + 1));
    EXPECT_EQ(sent.back().what.path, "/b");
}

TEST_F(GuaranteedDeletes, IsQuickAgainAfterTheNextConnection) {
    deletes.connected();
    deletes.add("/a", nullptr);
    for (int i = 0; i < 12; ++i) {
        answer_last(result_code::no_auth);
        loop->run_for(5s);
    }
    deletes.suspended();
    answer_last(result_code::connection_loss);
    deletes.connected();
    const std::size_t before = sent.size();
    answer_last(result_code::no_auth);
    loop->run_for(50ms);
    EXPECT_THAT(sent, SizeIs(before + 1));
}

TEST_F(GuaranteedDeletes, SendsAgainOnTheNextConnectionWhatWasLostWithOne) {
    deletes.connected();
    deletes.add("/a", tells("a"));
    deletes.add("/b", tells("b"));
    deletes.suspended();
    answer(0, result_code::connection_loss);
    answer(1, result_code::connection_loss);
    loop->run_for(1min);
    EXPECT_THAT(sent, SizeIs(2));
    deletes.connected();
    EXPECT_THAT(paths(), ElementsAre("/a", "/b", "/a", "/b"));
    answer(2, result_code::no_node);  // the first one had been applied
    EXPECT_EQ(emptied, 0);
    answer(3, result_code::ok);
    EXPECT_THAT(gone, ElementsAre("a", "b"));
    EXPECT_EQ(emptied, 1);
    EXPECT_THAT(reported, IsEmpty());
}

TEST_F(GuaranteedDeletes, DoesNotSendWhileSuspendedEvenIfARetryWasDue) {
    deletes.connected();
    deletes.add("/a", nullptr);
    answer(0, result_code::throttled);
    deletes.suspended();
    loop->run_for(1h);
    EXPECT_THAT(sent, SizeIs(1));
    deletes.connected();
    EXPECT_THAT(sent, SizeIs(2));
}

TEST_F(GuaranteedDeletes, ReportsARefusalOnceForEachZnode) {
    deletes.connected();
    deletes.add("/a", nullptr);
    deletes.add("/b", nullptr);
    answer(0, result_code::no_auth);
    answer(1, result_code::not_empty);
    loop->run_for(5s);
    ASSERT_THAT(sent, SizeIs(4));
    answer(2, result_code::no_auth);
    answer(3, result_code::no_auth);
    EXPECT_THAT(reported,
                ElementsAre(Pair("/a", result_code::no_auth), Pair("/b", result_code::not_empty)));
}

TEST_F(GuaranteedDeletes, OneZnodeIsDeletedOnceForAllWhoAsk) {
    deletes.connected();
    deletes.add("/a", tells("first"));
    deletes.add("/a", tells("second"));
    deletes.add("/a", nullptr);
    EXPECT_THAT(sent, SizeIs(1));
    answer(0, result_code::ok);
    EXPECT_THAT(gone, ElementsAre("first", "second"));
    EXPECT_EQ(emptied, 1);
}

TEST_F(GuaranteedDeletes, ARefusedOneIsAskedForAgainAtOnceByANewRequest) {
    deletes.connected();
    deletes.add("/a", tells("first"));
    answer(0, result_code::throttled);
    deletes.add("/a", tells("second"));
    ASSERT_THAT(sent, SizeIs(2));
    answer(1, result_code::ok);
    loop->run_for(1min);
    EXPECT_THAT(sent, SizeIs(2));
    EXPECT_THAT(gone, ElementsAre("first", "second"));
}

TEST_F(GuaranteedDeletes, TheEndOfTheSessionCompletesAll) {
    deletes.connected();
    deletes.add("/a", tells("a"));
    deletes.add("/b", tells("b"));
    answer(1, result_code::no_auth);
    deletes.session_ended(true);
    EXPECT_THAT(gone, UnorderedElementsAre("a", "b"));
    EXPECT_TRUE(deletes.empty());
    answer(0, result_code::session_expired);  // late
    loop->run_for(1h);
    deletes.connected();
    EXPECT_THAT(sent, SizeIs(2));
    EXPECT_THAT(gone, SizeIs(2));
    EXPECT_EQ(emptied, 0) << "told of by its caller, not by the last delete";
}

TEST_F(GuaranteedDeletes, TheEndOfTheSessionCompletesWhatWasNeverSent) {
    deletes.add("/a", tells("a"));
    deletes.session_ended(true);
    EXPECT_THAT(gone, ElementsAre("a"));
    deletes.connected();
    EXPECT_THAT(sent, IsEmpty());
}

TEST_F(GuaranteedDeletes, TheEndByTheClientConfirmsOnlyWhatWasAnswered) {
    deletes.connected();
    deletes.add("/a", tells("a"));
    deletes.add("/b", tells("b"));
    deletes.add(std::vector<std::string>{"/c", "/d"}, tells("c and d"));
    answer(0, result_code::ok);
    answer(2, result_code::no_node);  // each by itself from now on
    ASSERT_THAT(sent, SizeIs(5));
    answer(3, result_code::ok);
    deletes.session_ended(false);
    EXPECT_THAT(gone, UnorderedElementsAre("a", "b?", "c and d?"));
}

TEST_F(GuaranteedDeletes, EmptiedIsToldEachTimeTheLastOneIsDone) {
    deletes.connected();
    for (int i = 1; i <= 3; ++i) {
        deletes.add("/a", nullptr);
        answer_last(result_code::ok);
        EXPECT_EQ(emptied, i);
    }
}

TEST_F(GuaranteedDeletes, HandlersMayAskForMore) {
    deletes.connected();
    deletes.add("/a", [this](bool) { deletes.add("/b", tells("b")); });
    answer(0, result_code::ok);
    EXPECT_EQ(emptied, 0);
    EXPECT_THAT(paths(), ElementsAre("/a", "/b"));
    answer(1, result_code::ok);
    EXPECT_THAT(gone, ElementsAre("b"));
    EXPECT_EQ(emptied, 1);
}

TEST_F(GuaranteedDeletes, HandlersMayAskForMoreWhenTheSessionEnds) {
    deletes.connected();
    deletes.add("/a", [this](bool) { deletes.add("/a", tells("again")); });
    deletes.session_ended(true);
    EXPECT_THAT(sent, SizeIs(1));
    deletes.connected();  // another session: it is not there
    answer_last(result_code::no_node);
    EXPECT_THAT(gone, ElementsAre("again"));
}

}  // namespace
}  // namespace latchkey
