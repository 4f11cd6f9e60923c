// What becomes of leaders and candidates when requests, answers, sessions and znodes are lost on
// the way.
#include "client/client_core.hpp"
#include "election.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using when = ensemble::when;
using op = ensemble::request_kind;

// ---- requests and answers ----

/// A connection that breaks at a request, once or several times, before a server acts on it and
/// after.
class LostByACandidate : public election,
                         public ::testing::WithParamInterface<std::tuple<op, when, int>> {
protected:
    void lose(const candidate& by) {
        const auto& [what, w, times] = GetParam();
        ensemble_.fail_next(what, w, by.id(), times);
    }
};

TEST_P(LostByACandidate, WhenItIsAloneItLeadsWithOneZnodeAndItsRecord) {
    candidate& c = add();
    lose(c);
    c.latch->start();
    ASSERT_TRUE(leads(c));
    expect_in_order(c);
    expect_pairs(c);
}

TEST_P(LostByACandidate, WhenItJoinsAFollowerKeepsOnePlace) {
    candidate& first = leading();
    candidate& second = add();
    lose(second);
    second.latch->start();
    run_for(10s);
    EXPECT_EQ(ensemble_.children(path).size(), 2U);
    expect_in_order(first);
    first.latch.reset();
    ASSERT_TRUE(leads(second));
    expect_in_order(second);
}

TEST_P(LostByACandidate, WhenItIsItsTurnTheSuccessorLeadsOnce) {
    candidate& first = leading();
    candidate& second = following();
    lose(second);
    first.latch.reset();
    ASSERT_TRUE(leads(second));
    expect_in_order(second);
    EXPECT_EQ(second.story.count("elected"), 1U);
    expect_pairs(second);
}

TEST_P(LostByACandidate, WhenItResignsItLeadsAgainLater) {
    candidate& first = leading();
    candidate& second = following();
    run_for(1s);
    lose(first);
    first.latch->resign();
    ASSERT_TRUE(leads(second));
    run_for(20s);  // the other one has to find out first what became of its znode
    second.latch->resign();
    ASSERT_TRUE(leads(first));
    expect_in_order(first);
    expect_pairs(first);
}

std::string name_of_loss(const ::testing::TestParamInfo<std::tuple<op, when, int>>& p) {
    const auto& [what, w, times] = p.param;
    const std::string name = what == op::create     ? "Create"
                             : what == op::children ? "List"
                             : what == op::get      ? "Get"
                             : what == op::multi    ? "Multi"
                                                    : "Remove";
    return name + (w == when::before ? "NotApplied" : "Applied") + std::to_string(times);
}

INSTANTIATE_TEST_SUITE_P(
    Request,
    LostByACandidate,
    ::testing::Combine(::testing::Values(op::create, op::children, op::get, op::multi, op::remove),
                       ::testing::Values(when::before, when::after),
                       ::testing::Values(1, 3)),
    name_of_loss);

/// How a write ends without its outcome.
struct unknown {
    int code;
    when applied;
    bool connection_breaks;
};

void PrintTo(const unknown& e, std::ostream* to) {
    *to << e.code << (e.applied == when::after ? ", applied" : ", not applied")
        << (e.connection_breaks ? ", connection broken" : ", connection kept");
}

class UnknownToTheLeader : public election, public ::testing::WithParamInterface<unknown> {
protected:
    void lose_the_next_write(const candidate& by, int count = 1) {
        const unknown& e = GetParam();
        if (e.connection_breaks) {
            ensemble_.fail_next(op::multi, e.applied, by.id(), count, e.code);
        } else {
            ensemble_.refuse_next(op::multi, e.code, by.id(), count, e.applied);
        }
    }

    static bool applied() { return GetParam().applied == when::after; }
};

TEST_P(UnknownToTheLeader, AGrantIsToldWhenItIsKnownAndHasTheTokenOfTheWriteThatCounted) {
    candidate& first = leading({.id = "first"});
    candidate& second = following({.id = "second"});
    const auto before = ensemble_.get(path);
    lose_the_next_write(second);
    first.latch.reset();
    ASSERT_TRUE(run_until([&] { return record() && record()->id == "second"; }, 60s));
    EXPECT_EQ(second.latch->is_leader(), false) << "the answer was not even sent";
    ASSERT_TRUE(leads(second));
    const auto after = ensemble_.get(path);
    EXPECT_EQ(second.latch->term().token().zxid, after->mzxid);
    // The first one wrote that it has gone, the second that it leads, and nobody wrote twice.
    EXPECT_EQ(after->version, before->version + 2);
    expect_in_order(second);
    expect_pairs(second);
}

TEST_P(UnknownToTheLeader, AGrantAgainAndAgainIsResolvedToOneWrite) {
    candidate& first = leading();
    candidate& second = following();
    const auto before = ensemble_.get(path);
    lose_the_next_write(second, 3);
    first.latch.reset();
    ASSERT_TRUE(leads(second));
    EXPECT_EQ(ensemble_.get(path)->version, before->version + 2);
    expect_in_order(second);
}

TEST_P(UnknownToTheLeader, TheRecordOfAFirstLeaderIsWrittenOnce) {
    candidate& c = add();
    lose_the_next_write(c);
    c.latch->start();
    ASSERT_TRUE(leads(c));
    expect_in_order(c);
    EXPECT_EQ(ensemble_.get(path)->version, 1);
    EXPECT_EQ(c.latch->term().token().zxid, ensemble_.get(c.latch->term().path())->czxid);
}

TEST_P(UnknownToTheLeader, AProclamationIsWrittenOnceAndThenToldAsDone) {
    candidate& c = leading();
    expect_in_order(c);
    const auto version = ensemble_.get(path)->version;
    lose_the_next_write(c);
    std::vector<std::error_code> told;
    for (const char* data : {"one", "two"}) {
        c.latch->term().async_proclaim(data, [&](std::error_code ec) { told.push_back(ec); });
    }
    ASSERT_TRUE(run_until([&] { return told.size() == 2; }, 60s));
    EXPECT_THAT(told, ElementsAre(std::error_code(), std::error_code()));
    EXPECT_EQ(record()->data, "two");
    EXPECT_EQ(ensemble_.get(path)->version, version + 2);
    expect_in_order(c);
}

TEST_P(UnknownToTheLeader, AProclamationWhoseTermEndsIsIndeterminate) {
    candidate& c = leading();
    expect_in_order(c);
    lose_the_next_write(c);
    std::vector<std::error_code> told;
    for (const char* data : {"one", "two"}) {
        c.latch->term().async_proclaim(data, [&](std::error_code ec) { told.push_back(ec); });
    }
    run_for(one_way / 2);
    ensemble_.expire(c.id());
    ASSERT_TRUE(run_until([&] { return told.size() == 2; }, 60s));
    EXPECT_THAT(
        told, ElementsAre(make_error_code(errc::indeterminate), make_error_code(errc::hold_lost)));
    ASSERT_TRUE(run_until([&] { return c.story.count("elected") == 2; }, 60s));
    expect_in_order(c);
}

TEST_P(UnknownToTheLeader, AResignationLeavesNothing) {
    candidate& c = leading();
    expect_in_order(c);
    lose_the_next_write(c);
    c.latch.reset();
    ASSERT_TRUE(run_until([&] { return ensemble_.children(path).empty(); }, 60s));
}

std::vector<unknown> every_unknown() {
    std::vector<unknown> all;
    for (const int code : {-4, -7, -2, -112, -116}) {
        for (const when w : {when::before, when::after}) {
            for (const bool breaks : {true, false}) {
                all.push_back({code, w, breaks});
            }
        }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Outcome,
                         UnknownToTheLeader,
                         ::testing::ValuesIn(every_unknown()),
                         [](const auto& p) {
                             return "Code" + std::to_string(-p.param.code) +
                                    (p.param.applied == when::after ? "Applied" : "NotApplied") +
                                    (p.param.connection_breaks ? "Broken" : "Kept");
                         });

/// Where leadership can be transferred a znode that was the first may be younger than a term
/// before: then its czxid is no token.
class CzxidAsToken : public election {};

TEST_F(CzxidAsToken, DoesNotServeWhenTheRecordWasWrittenSince) {
    candidate& c = add();
    ensemble_.fail_next(op::get, when::before, c.id());
    c.latch->start();
    ASSERT_TRUE(run_until([&] { return !ensemble_.children(path).empty(); }, 1s));
    ensemble_.set(path, write_leader_record({.id = "other", .data = {}, .znode = "_c_0-latch-0"}));
    const auto written = ensemble_.get(path)->mzxid;
    ASSERT_TRUE(leads(c));
    EXPECT_GT(c.latch->term().token().zxid, written);
    EXPECT_EQ(c.latch->term().token().zxid, ensemble_.get(path)->mzxid);
    expect_in_order(c);
}

TEST_F(CzxidAsToken, ServesWhenTheRecordIsReadAgainAndIsOlder) {
    candidate& c = add();
    ensemble_.fail_next(op::get, when::before, c.id());
    c.latch->start();
    ASSERT_TRUE(leads(c));
    const leadership term = c.latch->term();
    EXPECT_EQ(term.token().zxid, ensemble_.get(term.path())->czxid);
    expect_in_order(c);
}

}  // namespace
}  // namespace latchkey::test
