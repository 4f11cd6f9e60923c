#include <latchkey/group.hpp>
#include <latchkey/inspect.hpp>
#include <latchkey/semaphore.hpp>

#include "result_codes.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"
#include "unreachable_calls.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

// Whatever servers answer, known or not: they were reached.

namespace latchkey::test {
namespace {

using op = ensemble::request_kind;
using ::testing::Combine;
using ::testing::ValuesIn;

constexpr std::pair<op, const char*> kinds[]{{op::create, "Create"},
                                             {op::remove, "Remove"},
                                             {op::get, "Get"},
                                             {op::exists, "Exists"},
                                             {op::children, "Children"},
                                             {op::set, "Set"},
                                             {op::multi, "Multi"},
                                             {op::any, "Any"}};

class AnsweredCalls
    : public ::testing::TestWithParam<std::tuple<timed_recipe, std::pair<op, const char*>>> {
protected:
    struct answered : outcome {
        bool refused = false;  ///< it has asked for what is refused
    };

    static std::shared_ptr<answered> call(int code, std::chrono::nanoseconds limit) {
        const auto& [recipe, kind] = GetParam();
        ensemble::options o;
        o.mode = ensemble::mode::stepped;
        o.one_way = 1ms;
        ensemble in(o);
        client c = in.connect({.session_timeout = 12s});
        EXPECT_TRUE(in.run_until([&] { return c.session_id() != 0; }, 10s));
        const auto made = recipe.make(in, c);
        made.prepare();
        in.run_for(100ms);
        constexpr int many = 1'000'000;
        in.refuse_next(kind.first, code, c.session_id(), many);
        const auto result = std::make_shared<answered>();
        made.begin(limit, {}, outcome::into(result, in));
        // A transaction goes on for as long as servers answer.
        EXPECT_TRUE(in.run_until([&] { return result->done; }, 60s) ||
                    recipe.name == "transact_once")
            << code;
        result->refused = in.faults_to_come() < many;
        return result;
    }
};

/// Answers that are part of a recipe, and say what there is.
constexpr std::array ordinary{-101, -102, -103, -110, -111};

// A call that servers refuse to answer is no contention either: it does not know what is ahead.
TEST_P(AnsweredCalls, AreNeverUnreachableNorContention) {
    constexpr int session_moved = -118;  // a server hangs up instead of that answer
    std::string bad;
    std::string empty;
    for (int code = -1; code >= -130; --code) {
        for (const auto limit : {0s, 3s}) {
            const auto o = call(code, limit);
            if (o->ec == errc::unreachable && code != session_moved) {
                bad += std::to_string(code) + (limit == 0s ? "t " : " ");
            }
            const bool says_nothing =
                o->refused && code != session_moved &&
                std::find(ordinary.begin(), ordinary.end(), code) == ordinary.end();
            // A candidate that is in the queue does not lead yet, whatever it is refused later.
            const std::string& recipe = std::get<0>(GetParam()).name;
            const bool looks = recipe == "leader_latch" && limit == 0s;
            // Behind the result of a conversion, a delete is repeated until it is done.
            const bool deletes =
                recipe == "convert_shared" && std::get<1>(GetParam()).first == op::remove;
            if (o->done && !o->ec && !o->passed && says_nothing && !looks && !deletes) {
                empty += std::to_string(code) + (limit == 0s ? "t " : " ");
            }
        }
    }
    EXPECT_EQ(bad, "");
    EXPECT_EQ(empty, "");
}

std::vector<timed_recipe> all_recipes() {
    std::vector<timed_recipe> all = timed_from_the_start();
    for (auto some : {timed_requests(), timed_once_inside()}) {
        std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(,
                         AnsweredCalls,
                         Combine(ValuesIn(all_recipes()), ValuesIn(kinds)),
                         [](const auto& p) {
                             return std::get<0>(p.param).name + std::get<1>(p.param).second;
                         });

// ---- a code that nobody expects ----

constexpr int code_without_a_word = -77;

class UnexpectedAnswers : public SteppedTest {
protected:
    void refuse(op kind, int code = code_without_a_word) {
        ensemble_.refuse_next(kind, code, c_.session_id(), 1'000'000);
    }

    void obey(op kind) { ensemble_.refuse_next(kind, 0, c_.session_id(), 0); }

    [[nodiscard]] std::size_t lines() const {
        return std::size_t(std::count(logged_.begin(), logged_.end(), "unexpected-answer"));
    }

    std::vector<std::string> logged_;
    client c_ = connected({.session_timeout = 12s, .log = [this](const log_record& line) {
                               logged_.emplace_back(line.id);
                           }});
    mutex m_{c_, "/lock"};
};

TEST_F(UnexpectedAnswers, AreReportedOnceEachWhileTheCallGoesOn) {
    refuse(op::create);
    const auto a = acquire(m_);
    ensemble_.run_for(30s);
    EXPECT_FALSE(a->done);
    EXPECT_EQ(lines(), 1U);
    refuse(op::create, code_without_a_word - 1);
    obey(op::create);
    refuse(op::create, code_without_a_word - 1);
    ensemble_.run_for(30s);
    EXPECT_EQ(lines(), 2U);
    obey(op::create);
    expect_granted(a);
}

TEST_F(UnexpectedAnswers, AreTheErrorOfACallWhoseTimeIsOverAlsoOnceTheServersHaveStopped) {
    refuse(op::create);
    const auto a = acquire(m_, 3s);
    ensemble_.run_for(1s);
    stop_all(ensemble_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_EQ(a->ec, errc::protocol) << a->ec.message();
}

TEST_F(UnexpectedAnswers, ThatRefuseForGoodEndACallThatHasNoLimit) {
    constexpr int unimplemented = -6;
    for (const op kind : {op::create, op::children, op::any}) {
        refuse(kind, unimplemented);
        const auto a = acquire(m_);
        EXPECT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
        EXPECT_EQ(a->ec, errc::unsupported) << a->ec.message();
        obey(kind);
        ensemble_.run_for(5s);
        EXPECT_EQ(in_queue(), 0U);
    }
}

// Servers that serve only clients that have authenticated answer one request so, and hang up.
TEST_F(UnexpectedAnswers, ThatAskForAuthenticationEndTheClient) {
    constexpr int authentication_required = -124;
    ensemble_.refuse_next(op::any, authentication_required, c_.session_id());
    c_.async_exists("/elsewhere", read_from::any_server, [](std::error_code, const auto&) {});
    const auto a = acquire(m_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
    EXPECT_EQ(a->ec, errc::authentication_failed) << a->ec.message();
}

TEST_F(UnexpectedAnswers, OfEarlierCallsAreNoErrorOfALaterOne) {
    refuse(op::create);
    const auto a = acquire(m_, 3s);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
    obey(op::create);
    ensemble_.run_for(30s);
    stop_all(ensemble_);
    const auto b = acquire(m_, 3s);
    ASSERT_TRUE(ensemble_.run_until([&] { return b->done; }, 60s));
    EXPECT_EQ(b->ec, errc::unreachable) << b->ec.message();
}

// A refusal on another path says nothing about this one, whose server may have lost its leader.
TEST_F(UnexpectedAnswers, OrdinaryOnesOfOtherPathsLeaveACallUnreachable) {
    ensemble_.isolate(ensemble_.sessions().front().server);
    const auto a = acquire(m_, 3s);
    c_.async_exists("/elsewhere", read_from::any_server, [](std::error_code, const auto&) {});
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
    EXPECT_EQ(a->ec, errc::unreachable) << a->ec.message();
}

// ---- a session that cannot own ephemeral znodes ----

class LocalSession : public SteppedTest, public ::testing::WithParamInterface<timed_recipe> {};

TEST_P(LocalSession, IsTheErrorOfEachRecipeAtOnce) {
    client c = connected();
    const auto made = GetParam().make(ensemble_, c);
    for (const op kind : {op::create, op::multi}) {
        ensemble_.refuse_next(kind, -120, c.session_id(), 1'000'000);
    }
    const auto o = std::make_shared<outcome>();
    const auto begun = ensemble_.now();
    made.begin(60s, {}, outcome::into(o, ensemble_));
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 100s));
    EXPECT_EQ(o->ec, errc::unsupported) << o->ec.message();
    EXPECT_LE(o->at - begun, 1s);
}

INSTANTIATE_TEST_SUITE_P(, LocalSession, ValuesIn(timed_that_create()), [](const auto& p) {
    return p.param.name;
});

// ---- calls that block ----

TEST(AnsweredBlockingCalls, AreNeverUnreachable) {
    ensemble::options o;
    o.tick = 100ms;
    ensemble in(o);
    client c = in.connect({.session_timeout = 1s});
    ASSERT_TRUE(c.wait_connected(60s));
    mutex m(c, "/lock");
    const hold h = m.acquire();
    semaphore s(c, "/s", 3U);
    const hold permit = s.acquire(1);
    const queue_view seen = inspect(c, "/lock");
    ASSERT_EQ(seen.participants.size(), 1U);
    const participant& whom = seen.participants.front();
    group g(c, "/g");
    using call = std::function<void(std::error_code&)>;
    const std::vector<call> calls{
        [&](auto& ec) { static_cast<void>(inspect(c, "/lock", ec)); },
        [&](auto& ec) { break_hold(c, whom, "test", ec); },
        [&](auto& ec) { revoke(c, whom, ec); },
        [&](auto& ec) { s.resize(4, ec); },
        [&](auto& ec) { static_cast<void>(g.members(ec)); },
        [&](auto& ec) { static_cast<void>(m.participants(ec)); },
        [&](auto& ec) { static_cast<void>(c.get("/lock", read_from::quorum, ec)); },
        [&](auto& ec) { c.transact({operation::set("/lock", "x")}, ec); }};
    for (const int code : {code_without_a_word, throttled, -4, -5}) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            for (const auto& [kind, name] : kinds) {
                if (kind != op::any) {
                    in.refuse_next(kind, code, c.session_id(), 1'000'000);
                }
            }
            std::error_code ec;
            calls[i](ec);
            EXPECT_NE(ec, errc::unreachable) << code << ", call " << i;
            EXPECT_TRUE(ec) << code << ", call " << i;
        }
    }
}

}  // namespace
}  // namespace latchkey::test
