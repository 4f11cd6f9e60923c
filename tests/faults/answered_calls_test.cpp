#include <latchkey/group.hpp>
#include <latchkey/inspect.hpp>
#include <latchkey/semaphore.hpp>

#include "client/client_core.hpp"
#include "result_codes.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"
#include "unreachable_calls.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <ostream>
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
using ::testing::Values;
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

// ---- an unexpected code ----

constexpr int code_without_a_word = -77;

class UnexpectedAnswers : public SteppedTest {
protected:
    void refuse(op kind, int code = code_without_a_word) {
        ensemble_.refuse_next(kind, code, c_.session_id(), 1'000'000);
    }

    void obey(op kind) { ensemble_.refuse_next(kind, 0, c_.session_id(), 0); }

    void expect_error(const std::shared_ptr<attempt>& a, errc ec) {
        ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 60s));
        EXPECT_EQ(a->ec, ec) << a->ec.message();
    }

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
    expect_error(a, errc::protocol);
}

TEST_F(UnexpectedAnswers, ThatRefuseForGoodEndACallThatHasNoLimit) {
    constexpr int unimplemented = -6;
    for (const op kind : {op::create, op::children, op::any}) {
        refuse(kind, unimplemented);
        expect_error(acquire(m_), errc::unsupported);
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
    expect_error(acquire(m_), errc::authentication_failed);
}

TEST_F(UnexpectedAnswers, OfEarlierCallsAreNoErrorOfALaterOne) {
    refuse(op::create);
    expect_error(acquire(m_, 3s), errc::not_acquired);
    obey(op::create);
    ensemble_.run_for(30s);
    stop_all(ensemble_);
    expect_error(acquire(m_, 3s), errc::unreachable);
}

// A refusal on another path says nothing about this one, whose server may have lost its leader.
TEST_F(UnexpectedAnswers, OrdinaryOnesOfOtherPathsLeaveACallUnreachable) {
    ensemble_.isolate(ensemble_.sessions().front().server);
    const auto a = acquire(m_, 3s);
    c_.async_exists("/elsewhere", read_from::any_server, [](std::error_code, const auto&) {});
    expect_error(a, errc::unreachable);
}

// ---- what cannot be: a session that owns no ephemeral znodes, directories that may not come ----

/// It does not come by waiting. Each recipe says so at once.
class CallsThatCannotBe : public SteppedTest {
protected:
    void expect_error_at_once(const timed_call& call, errc why) {
        const auto o = std::make_shared<outcome>();
        const auto begun = ensemble_.now();
        call.begin(60s, {}, outcome::into(o, ensemble_));
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 100s));
        EXPECT_FALSE(o->passed);
        EXPECT_EQ(o->ec, why) << o->ec.message();
        EXPECT_LE(o->at - begun, 1s);
    }
};

class LocalSession : public CallsThatCannotBe,
                     public ::testing::WithParamInterface<timed_recipe> {};

TEST_P(LocalSession, IsTheErrorOfEachRecipeAtOnce) {
    client c = connected();
    for (const op kind : {op::create, op::multi}) {
        ensemble_.refuse_next(kind, -120, c.session_id(), 1'000'000);
    }
    expect_error_at_once(GetParam().make(ensemble_, c), errc::unsupported);
}

INSTANTIATE_TEST_SUITE_P(, LocalSession, ValuesIn(timed_that_create()), [](const auto& p) {
    return p.param.name;
});

/// Why no directory can be created below /corp.
struct obstacle {
    const char* name;
    errc why;
    int code = 0;  ///< what the servers answer; 0 if the in-process ensemble knows by itself
};

constexpr obstacle obstacles[]{
    {"NoCreate", errc::not_authorized},
    {"EphemeralParent", errc::ephemeral_parent},
    {"Quota", errc::quota_exceeded, -125},
    {"List", errc::not_authorized, -114},
};

void PrintTo(const obstacle& o, std::ostream* out) {
    *out << o.name;
}

class RefusedDirectories
    : public CallsThatCannotBe,
      public ::testing::WithParamInterface<std::tuple<timed_recipe, obstacle, int>> {
protected:
    RefusedDirectories() {
        const auto& [recipe, what, missing] = GetParam();
        const bool ephemeral = what.why == errc::ephemeral_parent;
        if (ephemeral) {
            owner_.emplace(connected());
            const auto core = client_core::of(*owner_);
            core->submit(request::create("/corp", {}, create_mode::ephemeral, *core->access()),
                         [](const reply&) {});
            EXPECT_TRUE(ensemble_.run_until([this] { return ensemble_.exists("/corp"); }, 10s));
        } else if (what.code == 0 || missing == 2) {
            ensemble_.create("/corp");
        }
        if (what.code == 0 && !ephemeral) {
            ensemble_.set_acl("/corp",
                              {{"world", "anyone", permission::read | permission::remove}});
        }
        // The recipe's own directory is below this one.
        c_.emplace(
            ensemble_.connect({.session_timeout = 12s}, missing == 1 ? "/corp" : "/corp/team"));
        EXPECT_TRUE(ensemble_.run_until([&] { return c_->session_id() != 0; }, 10s));
        call_ = recipe.make(ensemble_, *c_);
        // The levels above the recipe's directory, and no more: below them there is no znode.
        ensemble_.refuse_next(ensemble::request_kind::create,
                              what.code,
                              c_->session_id(),
                              what.code == 0 ? 0 : missing);
    }

    std::optional<client> owner_;
    std::optional<client> c_;
    timed_call call_;
};

TEST_P(RefusedDirectories, EndTheCallAtOnce) {
    expect_error_at_once(call_, std::get<obstacle>(GetParam()).why);
}

INSTANTIATE_TEST_SUITE_P(,
                         RefusedDirectories,
                         Combine(ValuesIn(timed_that_create()), ValuesIn(obstacles), Values(1, 2)),
                         [](const auto& p) {
                             return std::get<0>(p.param).name + std::get<1>(p.param).name +
                                    std::to_string(std::get<2>(p.param));
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
