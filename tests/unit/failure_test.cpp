#include "session/failure.hpp"

#include <latchkey/acl.hpp>
#include <latchkey/transaction.hpp>

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

TEST(FailureOf, HasTheLibrarysWordAndNamesThePathEscaped) {
    using code = result_code;
    for (const auto& [answered, word] : std::vector<std::pair<code, errc>>{
             {code::no_node, errc::no_such_znode},
             {code::no_auth, errc::not_authorized},
             {code::invalid_acl, errc::not_authorized},
             {code::bad_version, errc::version_mismatch},
             {code::no_children_for_ephemerals, errc::ephemeral_parent},
             {code::node_exists, errc::znode_exists},
             {code::not_empty, errc::not_empty},
             {code::auth_failed, errc::authentication_failed},
             {code::quota_exceeded, errc::quota_exceeded},
             {code::unimplemented, errc::unsupported},
             {code::ephemeral_on_local_session, errc::unsupported},
             {code::bad_arguments, errc::invalid_argument},
             {code::invalid_state, errc::session_lost},
             {code::connection_loss, errc::indeterminate},
             {code::operation_timeout, errc::indeterminate},
             {code::runtime_inconsistency, errc::indeterminate},
             {code::session_expired, errc::indeterminate},
             {code::closing, errc::indeterminate},
             {code::session_moved, errc::protocol},
             {static_cast<code>(-999), errc::protocol}}) {
        const failure f = failure_of(answered, "/a\x1B");
        EXPECT_EQ(f.code, word) << static_cast<int>(answered);
        EXPECT_TRUE(f) << static_cast<int>(answered);
        EXPECT_THAT(f.detail, HasSubstr("\"/a\\x1b\"")) << static_cast<int>(answered);
    }
}

TEST(FailureOf, CodesWithoutAWordShowTheirNumber) {
    EXPECT_THAT(failure_of(static_cast<result_code>(-999), "/a").detail, HasSubstr("-999"));
    EXPECT_THAT(failure_of(result_code::no_node, "/a").detail, Not(HasSubstr("-101")));
}

TEST(FailureOf, NamesTheRemedyWhereThereIsOne) {
    using enum result_code;
    for (const auto& [code, remedy] :
         {std::pair{no_auth, "READ, CREATE and DELETE"},
          {invalid_acl, "creator-only list without credentials"},
          {no_children_for_ephemerals, "choose another"},
          {quota_exceeded, "raise the quota"},
          {ephemeral_on_local_session, "localSessionsUpgradingEnabled=true"}}) {
        EXPECT_THAT(failure_of(code, "/a").detail, HasSubstr(remedy));
    }
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
    EXPECT_NO_THROW(f.raise_unless(true));
    EXPECT_THROW(f.raise_unless(false), error);
    EXPECT_THAT([&] { f.raise(); },
                ::testing::Throws<error>(
                    AllOf(::testing::Property(&error::code, make_error_code(errc::closed)),
                          ::testing::Property(&error::what, HasSubstr("the client was closed")))));
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
        EXPECT_TRUE(make_error_code(e)) << "no error is zero";
    }
    EXPECT_THAT(make_error_code(static_cast<errc>(99)).message(), HasSubstr("99"));
    EXPECT_STREQ(error_category().name(), "latchkey");
}

TEST(Cause, TellsWhatToDoNext) {
    using enum errc;
    const std::set<errc> retryable{
        unreachable, session_lost, hold_lost, indeterminate, quota_exceeded};
    for (const errc e : all_errors()) {
        const std::error_code code = e;
        EXPECT_EQ(code == error_kind::retryable, retryable.count(e) == 1) << code.message();
        EXPECT_EQ(code == error_kind::indeterminate, e == indeterminate) << code.message();
        EXPECT_EQ(code == error_kind::session_lost, e == session_lost) << code.message();
    }
    EXPECT_FALSE(std::make_error_code(std::errc::timed_out) == error_kind::retryable);
    EXPECT_FALSE(std::error_code() == error_kind::retryable);
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
