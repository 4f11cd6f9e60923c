#include "client/failure.hpp"

#include <latchkey/acl.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/transaction.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Failure, OfOneRequestNamesThePermissionThatItNeeds) {
    using enum request::kind;
    for (const auto& [asked, needs] : {std::pair{get, "needs READ on it"},
                                       {exists, "needs READ on it"},
                                       {children, "needs READ on it"},
                                       {check, "needs READ on it"},
                                       {set, "needs WRITE on it"},
                                       {create, "needs CREATE on its parent"},
                                       {remove, "needs DELETE on its parent"}}) {
        const failure f = failure_of(result_code::no_auth, "/a", asked);
        EXPECT_EQ(f.code, errc::not_authorized);
        EXPECT_THAT(f.detail, AllOf(HasSubstr(needs), Not(HasSubstr("READ, CREATE and DELETE"))));
    }
    EXPECT_THAT(failure_of(result_code::no_auth, "/a").detail,
                HasSubstr("READ, CREATE and DELETE on the directory"));
    EXPECT_THAT(failure_of(result_code::no_node, "/a", set).detail, Not(HasSubstr("WRITE")));
}

struct word_case {
    result_code code;
    errc word;
};

class FailureOf : public ::testing::TestWithParam<word_case> {};

TEST_P(FailureOf, HasTheLibrarysWordAndNamesThePathEscaped) {
    const failure f = failure_of(GetParam().code, "/a\x1B");
    EXPECT_EQ(f.code, GetParam().word);
    EXPECT_TRUE(f);
    EXPECT_THAT(f.detail, HasSubstr("\"/a\\x1b\""));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    FailureOf,
    ::testing::Values(word_case{result_code::no_node, errc::no_such_znode},
                      word_case{result_code::no_auth, errc::not_authorized},
                      word_case{result_code::invalid_acl, errc::not_authorized},
                      word_case{result_code::bad_version, errc::version_mismatch},
                      word_case{result_code::no_children_for_ephemerals, errc::ephemeral_parent},
                      word_case{result_code::node_exists, errc::znode_exists},
                      word_case{result_code::not_empty, errc::not_empty},
                      word_case{result_code::auth_failed, errc::authentication_failed},
                      word_case{result_code::quota_exceeded, errc::quota_exceeded},
                      word_case{result_code::unimplemented, errc::unsupported},
                      word_case{result_code::ephemeral_on_local_session, errc::unsupported},
                      word_case{result_code::bad_arguments, errc::invalid_argument},
                      word_case{result_code::invalid_state, errc::session_lost},
                      word_case{result_code::connection_loss, errc::indeterminate},
                      word_case{result_code::operation_timeout, errc::indeterminate},
                      word_case{result_code::runtime_inconsistency, errc::indeterminate},
                      word_case{result_code::session_expired, errc::indeterminate},
                      word_case{result_code::closing, errc::indeterminate},
                      word_case{result_code::session_moved, errc::protocol},
                      word_case{static_cast<result_code>(-999), errc::protocol}),
    [](const auto& tested) {
        return "Code" + std::to_string(-static_cast<int>(tested.param.code));
    });

TEST(FailureOf, CodesWithoutAWordShowTheirNumber) {
    EXPECT_THAT(failure_of(static_cast<result_code>(-999), "/a").detail, HasSubstr("-999"));
    EXPECT_THAT(failure_of(result_code::no_node, "/a").detail, Not(HasSubstr("-101")));
}

TEST(FailureOf, NamesTheRemedyWhereThereIsOne) {
    EXPECT_THAT(failure_of(result_code::no_auth, "/a").detail,
                HasSubstr("READ, CREATE and DELETE"));
    EXPECT_THAT(failure_of(result_code::invalid_acl, "/a").detail,
                HasSubstr("creator-only list without credentials"));
    EXPECT_THAT(failure_of(result_code::no_children_for_ephemerals, "/a").detail,
                HasSubstr("choose another"));
    EXPECT_THAT(failure_of(result_code::quota_exceeded, "/a").detail, HasSubstr("raise the quota"));
    EXPECT_THAT(failure_of(result_code::ephemeral_on_local_session, "/a").detail,
                HasSubstr("localSessionsUpgradingEnabled=true"));
}

TEST(OutcomeUnknown, HoldsForExactlyTheCodesThatEndRequestsInFlight) {
    for (int code = -200; code <= 0; ++code) {
        const bool expected =
            code == -4 || code == -7 || code == -2 || code == -112 || code == -116;
        EXPECT_EQ(outcome_unknown(static_cast<result_code>(code)), expected) << code;
    }
}

TEST(Failure, ThrowsOnlyWhenThereIsOne) {
    EXPECT_NO_THROW(failure{}.raise());
    EXPECT_FALSE(failure{});
    const failure f{errc::closed, "the client was closed"};
    try {
        f.raise();
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::closed);
        EXPECT_THAT(e.what(), HasSubstr("the client was closed"));
    }
    EXPECT_NO_THROW(f.raise_unless(true));
    EXPECT_THROW(f.raise_unless(false), error);
}

std::vector<errc> all_errors() {
    std::vector<errc> all;
    for (int i = static_cast<int>(errc::invalid_argument); i <= static_cast<int>(errc::protocol);
         ++i) {
        all.push_back(static_cast<errc>(i));
    }
    return all;
}

TEST(ErrorCategory, HasADifferentMessageForEachError) {
    std::set<std::string> messages;
    for (const errc e : all_errors()) {
        const std::string message = make_error_code(e).message();
        EXPECT_THAT(message, Not(HasSubstr("unknown error"))) << static_cast<int>(e);
        EXPECT_TRUE(messages.insert(message).second) << message;
    }
    EXPECT_THAT(make_error_code(static_cast<errc>(99)).message(), HasSubstr("99"));
    EXPECT_STREQ(error_category().name(), "latchkey");
}

TEST(ErrorCategory, NoErrorIsZero) {
    EXPECT_FALSE(std::error_code());
    for (const errc e : all_errors()) {
        EXPECT_TRUE(make_error_code(e));
    }
}

TEST(Cause, TellsWhatToDoNext) {
    const std::set<errc> retryable{errc::unreachable,
                                   errc::session_lost,
                                   errc::hold_lost,
                                   errc::indeterminate,
                                   errc::quota_exceeded};
    for (const errc e : all_errors()) {
        const std::error_code code = e;
        EXPECT_EQ(code == error_kind::retryable, retryable.count(e) == 1) << code.message();
        EXPECT_EQ(code == error_kind::indeterminate, e == errc::indeterminate) << code.message();
        EXPECT_EQ(code == error_kind::session_lost, e == errc::session_lost) << code.message();
    }
    EXPECT_FALSE(std::make_error_code(std::errc::timed_out) == error_kind::retryable);
    EXPECT_FALSE(std::error_code() == error_kind::retryable);
}

TEST(FencingToken, IsOrderedByZxidThenTurn) {
    const std::vector<fencing_token> in_order{{0, 0},
                                              {1, 0},
                                              {1, 1},
                                              {1, 4'294'967'295U},
                                              {2, 0},
                                              {4'294'967'296, 0},
                                              {std::numeric_limits<std::int64_t>::max(), 0}};
    EXPECT_TRUE(std::is_sorted(in_order.begin(), in_order.end()));
    EXPECT_EQ(std::adjacent_find(in_order.begin(), in_order.end()), in_order.end());
    EXPECT_LT((fencing_token{1, 9}), (fencing_token{2, 0}));
    EXPECT_EQ((fencing_token{7, 1}), (fencing_token{7, 1}));
}

TEST(Operation, KeepsWhatItWasMadeOf) {
    const operation c = operation::create("/a", "data", operation::lifetime::ephemeral_sequential);
    EXPECT_EQ(c.what(), operation::kind::create);
    EXPECT_EQ(c.path(), "/a");
    EXPECT_EQ(c.data(), "data");
    EXPECT_EQ(c.life(), operation::lifetime::ephemeral_sequential);
    EXPECT_EQ(operation::create("/a").life(), operation::lifetime::persistent);

    const operation s = operation::set("/b", "x", 3);
    EXPECT_EQ(s.what(), operation::kind::set);
    EXPECT_EQ(s.data(), "x");
    EXPECT_EQ(s.version(), 3);
    EXPECT_EQ(operation::set("/b", "x").version(), operation::any_version);

    EXPECT_EQ(operation::remove("/c", 1).what(), operation::kind::remove);
    EXPECT_EQ(operation::remove("/c", 1).version(), 1);
    EXPECT_EQ(operation::remove("/c").version(), operation::any_version);
    EXPECT_EQ(operation::check("/d", 0).what(), operation::kind::check);
    EXPECT_EQ(operation::check("/d", 0).version(), 0);
    EXPECT_EQ(operation::check("/d").path(), "/d");
}

TEST(Permission, AllowsWhatItContainsAndNoMore) {
    EXPECT_TRUE(allows(permission::all, permission::admin));
    EXPECT_TRUE(allows(permission::read | permission::write, permission::write));
    EXPECT_TRUE(allows(permission::all, permission::read | permission::remove));
    EXPECT_FALSE(allows(permission::read, permission::write));
    EXPECT_FALSE(allows(permission::read, permission::read | permission::write));
    EXPECT_FALSE(allows(permission{}, permission::read));
    EXPECT_EQ(permission::read | permission::write | permission::create | permission::remove |
                  permission::admin,
              permission::all);
}

TEST(Acl, DefaultsAreZooKeepersOwn) {
    EXPECT_EQ(open_unsafe_acl(), (acl{{"world", "anyone", permission::all}}));
    EXPECT_EQ(creator_only_acl(), (acl{{"auth", "", permission::all}}));
}

}  // namespace
}  // namespace latchkey
