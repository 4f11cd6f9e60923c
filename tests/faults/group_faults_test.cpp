#include <latchkey/acl.hpp>
#include <latchkey/group.hpp>

#include "stepped_test.hpp"

#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

class Member : public SteppedTest {
protected:
    Member() {
        join();
        settle();
    }

    void join() {
        mine_.async_join("name",
                         std::chrono::nanoseconds::max(),
                         {.data = "x", .stop = {}},
                         [this](std::error_code ec, membership joined) {
                             EXPECT_FALSE(ec) << ec.message();
                             m_ = std::move(joined);
                         });
        EXPECT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(m_); }, 60s));
    }

    /// Nobody may do anything there, or everybody.
    void allow(bool anything) { allow(anything ? permission::all : static_cast<permission>(0)); }

    void allow(permission what) { ensemble_.set_acl("/g", {{"world", "anyone", what}}); }

    [[nodiscard]] bool eventually_present() {
        return ensemble_.run_until([&] { return m_.present(); }, 10s);
    }

    /// What the servers have of it.
    [[nodiscard]] ensemble::znode there() const {
        return ensemble_.get("/g/name").value_or(ensemble::znode{});
    }

    std::vector<std::string> told_;
    client a_ = connected({.session_timeout = 12s, .log = [this](const log_record& line) {
                               told_.emplace_back(line.text);
                           }});
    group mine_{a_, "/g"};
    membership m_;
};

// ---- one whose znode went, while it may not be made again ----

class MemberRefused : public Member {
protected:
    /// The znode is taken away, and not let in again.
    void shut_out() {
        allow(false);
        ensemble_.remove("/g/name");
        ensemble_.run_for(5s);
        EXPECT_FALSE(ensemble_.exists("/g/name"));
        EXPECT_FALSE(m_.present());
    }
};

TEST_F(MemberRefused, EntersAgainAsSoonAsItMay) {
    shut_out();
    EXPECT_LT(ensemble_.count(a_.session_id()).creates, 40U) << "less and less often";
    EXPECT_EQ(told_.size(), 1U) << "once";
    m_.set_data("newer");
    allow(true);
    EXPECT_TRUE(eventually_present());
    EXPECT_EQ(there().data, "newer");
    told_.clear();
    shut_out();
    EXPECT_EQ(told_.size(), 1U) << "of each time";
}

TEST_F(MemberRefused, ReportsOnceThatItsDirectoryIsGoneAndMustNotBeCreated) {
    ensemble_.set_acl("/", {{"world", "anyone", permission::read}});
    ensemble_.remove("/g/name");
    ensemble_.remove("/g");
    ensemble_.run_for(20s);
    EXPECT_FALSE(m_.present());
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_NE(told_.front().find("needs READ, CREATE and DELETE"), std::string::npos);
    ensemble_.set_acl("/", open_unsafe_acl());
    EXPECT_TRUE(eventually_present());
}

TEST_F(MemberRefused, EntersAgainInItsNextSessionAsSoonAsItMay) {
    allow(false);
    ensemble_.expire(a_.session_id());
    ensemble_.run_for(20s);
    EXPECT_FALSE(m_.present());
    allow(true);
    EXPECT_TRUE(eventually_present());
    EXPECT_EQ(there().ephemeral_owner, a_.session_id());
}

TEST_F(MemberRefused, IsNotSeenAgainWhenItHasLeftMeanwhile) {
    shut_out();
    m_.leave();
    ensemble_.run_for(5s);
    allow(true);
    ensemble_.run_for(30s);
    EXPECT_FALSE(ensemble_.exists("/g/name"));
}

TEST_F(MemberRefused, IsPresentWhereTheAnswerToAnEarlierCreateWasLost) {
    ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
    const auto entry = there().czxid;
    ensemble_.remove("/g/name");
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.exists("/g/name"); }, 10s));
    const auto next = there().czxid;
    EXPECT_GT(next, entry);
    allow(false);
    EXPECT_TRUE(eventually_present());
    ensemble_.run_for(30s);
    EXPECT_TRUE(m_.present());
    EXPECT_EQ(there().czxid, next);
    ensemble_.reset_counters();
    ensemble_.run_for(60s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 0U) << "it is there";
}

TEST_F(MemberRefused, WhoMayNotLeaveAndJoinsAgainStays) {
    allow(permission::read | permission::create);
    m_.leave();
    ensemble_.run_for(5s);
    const auto entry = there().czxid;
    join();
    allow(true);
    ensemble_.run_for(30s);
    EXPECT_TRUE(m_.present());
    EXPECT_EQ(there().czxid, entry) << "it was not deleted meanwhile";
    m_.leave();
    EXPECT_TRUE(ensemble_.run_until([&] { return !ensemble_.exists("/g/name"); }, 10s));
}

TEST_F(MemberRefused, WhoLeavesWhileACreateIsNotAnsweredAndJoinsAgainStays) {
    ensemble_.fail_next(op::create, when::before, a_.session_id());
    ensemble_.remove("/g/name");
    ASSERT_TRUE(ensemble_.run_until([&] { return !is_connected(a_.state()); }, 10s));
    m_.leave();
    ensemble_.run_for(5s);
    join();
    const auto entry = there().czxid;
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(30s);
    EXPECT_TRUE(m_.present());
    EXPECT_EQ(there().czxid, entry) << "it was not deleted meanwhile";
}

// ---- new data that is not taken ----

class MemberData : public Member,
                   public ::testing::WithParamInterface<std::pair<int, ensemble::when>> {
protected:
    [[nodiscard]] bool eventually_is(const std::string& data) {
        return ensemble_.run_until([&] { return there().data == data; }, 10s);
    }
};

TEST_P(MemberData, IsWrittenAgainUntilItIsThere) {
    const auto [code, moment] = GetParam();
    ensemble_.refuse_next(op::set, code, a_.session_id(), 3, moment);
    m_.set_data("newer");
    EXPECT_TRUE(eventually_is("newer"));
    ensemble_.run_for(10s);
    EXPECT_EQ(there().data, "newer");
    EXPECT_TRUE(m_.present());
    settle();
    ensemble_.run_for(10s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 0U) << "it is";
}

INSTANTIATE_TEST_SUITE_P(,
                         MemberData,
                         ::testing::Values(std::pair(-2, when::before),
                                           std::pair(-2, when::after),
                                           std::pair(-127, when::before),
                                           std::pair(-102, when::before)));

TEST_F(Member, WhoMayNotWriteItsDataTriesLessAndLessOften) {
    ensemble_.set_acl("/g/name", {{"world", "anyone", permission::read}});
    m_.set_data("newer");
    ensemble_.run_for(10s);
    EXPECT_LT(ensemble_.count(a_.session_id()).requests(), 60U);
    EXPECT_EQ(told_.size(), 1U);
    EXPECT_TRUE(m_.present());
    ensemble_.set_acl("/g/name", open_unsafe_acl());
    EXPECT_TRUE(ensemble_.run_until([&] { return there().data == "newer"; }, 5s));
}

// ---- data that may not be read ----

TEST_F(Member, WhoseDataMayNotBeReadIsReadAgainWithTheNextList) {
    const acl hidden{{"world", "anyone", permission::remove}};
    ensemble_.set_acl("/g/name", hidden);
    client b = connected();
    std::vector<group_member> seen;
    const subscription s = group(b, "/g").on_change([&](const auto& all) { seen = all; });
    ASSERT_TRUE(ensemble_.run_until([&] { return seen.size() == 1; }, 5s));
    EXPECT_EQ(seen[0].data, "");
    ensemble_.set_acl("/g/name", open_unsafe_acl());
    ensemble_.create("/g/other");
    EXPECT_TRUE(ensemble_.run_until([&] { return seen.size() == 2 && seen[0].data == "x"; }, 5s));
    EXPECT_EQ(seen[0].session_id, a_.session_id());
    m_.set_data("newer");
    EXPECT_TRUE(ensemble_.run_until([&] { return seen[0].data == "newer"; }, 5s));
}

}  // namespace
}  // namespace latchkey::test
