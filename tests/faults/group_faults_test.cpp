// Members of groups, and what is another's.
#include "client/client_core.hpp"
#include "meeting_fixture.hpp"
#include "request_faults.hpp"
#include "result_codes.hpp"
#include "znode/persistent_node.hpp"

#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

class Member : public MeetingTrouble {
protected:
    Member() {
        enter();
        settle();
    }

    void enter() { m_ = std::move(*joined(mine_)); }

    void allow(permission what) { MeetingTrouble::allow("/g", what); }

    [[nodiscard]] bool eventually_present() {
        return comes_true([&] { return m_.present(); }, 10s);
    }

    /// What the servers have of it.
    [[nodiscard]] ensemble::znode there() const {
        return ensemble_.get("/g/name").value_or(ensemble::znode{});
    }

    group mine_{a_, "/g"};
    membership m_;
};

// ---- one that is dropped by whom it notifies ----

class DroppedNode : public Member {
protected:
    /// Only the client refers to it once it has said how it ends.
    void start(const std::string& path) {
        node_ = std::make_shared<persistent_node>(
            core_,
            persistent_node::settings{
                .path = path, .data = "", .access = open_unsafe_acl(), .only_if_free = true});
        core_->loop().post([this] {
            node_->start([this](const failure&, bool entered) {
                EXPECT_FALSE(entered);
                node_.reset();
            });
        });
        EXPECT_TRUE(comes_true([&] { return node_ == nullptr; }, 10s));
        ensemble_.run_for(1s);
    }

    const std::shared_ptr<client_core> core_ = client_core::of(b_);
    std::shared_ptr<persistent_node> node_;
};

TEST_F(DroppedNode, EndsWhereTheNameIsNotFree) {
    start("/g/name");
    EXPECT_EQ(there().data, "x") << "that of the other client";
}

TEST_F(DroppedNode, EndsWhereItIsRefused) {
    allow(nothing);
    start("/g/other");
    EXPECT_FALSE(ensemble_.exists("/g/other"));
}

TEST_F(DroppedNode, DoesNotBeginAgainIfAnotherListenerOfTheSessionsEndDropsIt) {
    struct dropping final : session_listener {
        std::shared_ptr<persistent_node> node;

        void session_ended(loss_reason) override { node->leave(); }

        void client_closed(const failure&) override { node.reset(); }
    };

    const auto first = std::make_shared<dropping>();
    first->node = std::make_shared<persistent_node>(
        core_,
        persistent_node::settings{.path = "/g/other", .data = "", .access = open_unsafe_acl()});
    core_->loop().post([&] {
        core_->attach(first);
        first->node->start([](const failure&, bool entered) { EXPECT_TRUE(entered); });
    });
    EXPECT_TRUE(comes_true([&] { return ensemble_.exists("/g/other"); }, 10s));
    const auto session = b_.session_id();
    ensemble_.expire(session);
    EXPECT_TRUE(comes_true([&] { return b_.session_id() != session && b_.session_id() != 0; }));
    ensemble_.run_for(5s);
    EXPECT_FALSE(ensemble_.exists("/g/other"));
}

// ---- one whose znode went, while it may not be made again ----

class MemberRefused : public Member {
protected:
    /// The znode is taken away, and not let in again.
    void shut_out() {
        allow(nothing);
        ensemble_.remove("/g/name");
        ensemble_.run_for(5s);
        EXPECT_FALSE(ensemble_.exists("/g/name"));
        EXPECT_FALSE(m_.present());
    }
};

TEST_F(MemberRefused, EntersAgainAsSoonAsItMay) {
    shut_out();
    EXPECT_LT(ensemble_.count(a_.session_id()).creates, 40U) << "less and less often";
    EXPECT_EQ(logged_.size(), 1U) << "once";
    m_.set_data("newer");
    allow(permission::all);
    EXPECT_TRUE(eventually_present());
    EXPECT_EQ(there().data, "newer");
    logged_.clear();
    shut_out();
    EXPECT_EQ(logged_.size(), 1U) << "of each time";
}

TEST_F(MemberRefused, ReportsOnceThatItsDirectoryIsGoneAndMustNotBeCreated) {
    ensemble_.set_acl("/", {{"world", "anyone", permission::read}});
    ensemble_.remove("/g/name");
    ensemble_.remove("/g");
    ensemble_.run_for(20s);
    EXPECT_FALSE(m_.present());
    ASSERT_EQ(logged_.size(), 1U);
    EXPECT_NE(logged_.front().find("needs READ, CREATE and DELETE"), std::string::npos);
    ensemble_.set_acl("/", open_unsafe_acl());
    EXPECT_TRUE(eventually_present());
}

TEST_F(MemberRefused, EntersAgainInItsNextSessionAsSoonAsItMay) {
    allow(nothing);
    ensemble_.expire(a_.session_id());
    ensemble_.run_for(20s);
    EXPECT_FALSE(m_.present());
    allow(permission::all);
    EXPECT_TRUE(eventually_present());
    EXPECT_EQ(there().ephemeral_owner, a_.session_id());
}

TEST_F(MemberRefused, IsNotSeenAgainWhenItHasLeftMeanwhile) {
    shut_out();
    m_.leave();
    ensemble_.run_for(5s);
    allow(permission::all);
    ensemble_.run_for(30s);
    EXPECT_FALSE(ensemble_.exists("/g/name"));
}

TEST_F(MemberRefused, IsPresentWhereTheAnswerToAnEarlierCreateWasLost) {
    ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
    const auto entry = there().czxid;
    ensemble_.remove("/g/name");
    ASSERT_TRUE(comes_true([&] { return ensemble_.exists("/g/name"); }, 10s));
    const auto next = there().czxid;
    EXPECT_GT(next, entry);
    allow(nothing);
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
    enter();
    allow(permission::all);
    ensemble_.run_for(30s);
    EXPECT_TRUE(m_.present());
    EXPECT_EQ(there().czxid, entry) << "it was not deleted meanwhile";
    m_.leave();
    EXPECT_TRUE(comes_true([&] { return !ensemble_.exists("/g/name"); }, 10s));
}

TEST_F(MemberRefused, MemberThatLeavesBeforeItsCreateIsAnsweredAndJoinsAgainStays) {
    ensemble_.fail_next(op::create, when::before, a_.session_id());
    ensemble_.remove("/g/name");
    ASSERT_TRUE(comes_true([&] { return !is_connected(a_.state()); }, 10s));
    m_.leave();
    ensemble_.run_for(5s);
    enter();
    const auto entry = there().czxid;
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(30s);
    EXPECT_TRUE(m_.present());
    EXPECT_EQ(there().czxid, entry) << "it was not deleted meanwhile";
}

// ---- data that may not be written, or read ----

TEST_F(Member, WhoMayNotWriteItsDataTriesLessAndLessOften) {
    ensemble_.set_acl("/g/name", {{"world", "anyone", permission::read}});
    m_.set_data("newer");
    ensemble_.run_for(10s);
    EXPECT_LT(ensemble_.count(a_.session_id()).requests(), 60U);
    EXPECT_EQ(logged_.size(), 1U);
    EXPECT_TRUE(m_.present());
    ensemble_.set_acl("/g/name", open_unsafe_acl());
    EXPECT_TRUE(comes_true([&] { return there().data == "newer"; }, 5s));
    settle();
    ensemble_.run_for(10s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 0U) << "it is";
}

TEST_F(Member, WhoseDataMayNotBeReadIsReadAgainWithTheNextList) {
    const acl hidden{{"world", "anyone", permission::remove}};
    ensemble_.set_acl("/g/name", hidden);
    client b = connected();
    std::vector<group_member> seen;
    const subscription s = group(b, "/g").on_change([&](const auto& all) { seen = all; });
    ASSERT_TRUE(comes_true([&] { return seen.size() == 1; }, 5s));
    EXPECT_EQ(seen[0].data, "");
    ensemble_.set_acl("/g/name", open_unsafe_acl());
    ensemble_.create("/g/other");
    EXPECT_TRUE(comes_true([&] { return seen.size() == 2 && seen[0].data == "x"; }, 5s));
    EXPECT_EQ(seen[0].session_id, a_.session_id());
    m_.set_data("newer");
    EXPECT_TRUE(comes_true([&] { return seen[0].data == "newer"; }, 5s));
}

// ---- creates that were done although the next one is refused ----

class MeetingRefusal : public MeetingTrouble {
protected:
    MeetingRefusal() { ensemble_.create("/b"); }

    pending asked_to_join() {
        const auto in = std::make_shared<outcome>();
        g_.async_join("name", for_ever, {}, [this, in](std::error_code ec, const membership& m) {
            outcome::into(in, ensemble_)(ec, static_cast<bool>(m));
        });
        return in;
    }

    /// Access is taken away once it has created something, and given back when that was told.
    void refuse_and_expect_nothing_left(const pending& in) {
        const auto empty = [&] { return ensemble_.children("/b").empty(); };
        ASSERT_TRUE(comes_true([&] { return !empty(); }, 10s));
        allow("/b", nothing);
        finish(in, errc::not_authorized);
        allow("/b", permission::all);
        EXPECT_TRUE(comes_true(empty, 10s));
    }

    double_barrier b_of_two_{a_, "/b", 2};
    group g_{a_, "/b"};
};

TEST_F(MeetingRefusal, AfterACreateInDoubtLeavesNothingBehind) {
    for (const bool joins : {true, false}) {
        ensemble_.fail_next(op::create, when::after, a_.session_id(), 3);
        refuse_and_expect_nothing_left(joins ? asked_to_join() : enter(b_of_two_));
    }
}

TEST_F(MeetingRefusal, AfterACreateThatWasNotLookedAtLeavesNoMemberBehind) {
    ensemble_.refuse_next(op::get, inconsistency, a_.session_id());
    refuse_and_expect_nothing_left(asked_to_join());
}

// ---- what is another's ----

class NameOfAnother : public MeetingTrouble {
protected:
    group mine_{a_, "/g"};
    group yours_{b_, "/g"};
};

TEST_F(NameOfAnother, IsNotTakenAwayByADeleteThatIsRepeated) {
    const auto m = joined(mine_);
    const auto other = join(yours_);
    ensemble_.run_for(1s);
    ensemble_.fail_next(op::remove, when::after, a_.session_id());
    m->leave();
    ASSERT_TRUE(comes_true([&] { return static_cast<bool>(*other); }, 10s));
    const auto entry = ensemble_.get("/g/name")->czxid;
    ensemble_.run_for(30s);
    ASSERT_TRUE(ensemble_.exists("/g/name"));
    EXPECT_EQ(ensemble_.get("/g/name")->czxid, entry);
}

TEST_F(NameOfAnother, IsNotTakenAwayByWhoWaitsForItAndIsClosed) {
    const auto m = joined(mine_);
    const auto entry = ensemble_.get("/g/name")->czxid;
    yours_.async_join("name", for_ever, {}, [](std::error_code ec, const membership&) {
        EXPECT_EQ(ec, errc::closed);
    });
    ensemble_.run_for(1s);
    b_.close();
    ensemble_.run_for(5s);
    ASSERT_TRUE(ensemble_.exists("/g/name"));
    EXPECT_EQ(ensemble_.get("/g/name")->czxid, entry);
}

TEST_F(NameOfAnother, IsNotTakenForItsOwnByAMemberThatComesBack) {
    const auto m = joined(mine_);
    const auto other = join(yours_);
    ensemble_.suspend(a_.session_id());
    ensemble_.remove("/g/name");
    ASSERT_TRUE(comes_true([&] { return static_cast<bool>(*other); }, 3s));
    ensemble_.resume(a_.session_id());
    EXPECT_TRUE(comes_true([&] { return !m->present(); }, 5s));
    other->leave();
    EXPECT_TRUE(comes_true([&] { return m->present(); }, 5s));
}

TEST_F(NameOfAnother, RoundIsNotClearedAwayByWhoHearsLateThatItsOwnIsOver) {
    client c = connected();
    double_barrier one(a_, "/b", 2);
    double_barrier two(b_, "/b", 2);
    double_barrier three(c, "/b", 2);
    finish_both(enter(one), enter(two));
    const auto out = leave(one);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    finish(leave(two));
    finish_both(enter(two), enter(three));
    ensemble_.resume(a_.session_id());
    finish(out);
    ensemble_.run_for(1s);
    EXPECT_TRUE(ensemble_.exists("/b/ready")) << "two are inside";
}

// ---- what is reported after the end of a client ----

TEST_F(MeetingTrouble, ClosedClientEndsEveryEnterWithThatError) {
    double_barrier b(a_, "/b", 2);
    a_.close();
    ensemble_.run_for(1s);
    finish(enter(b), errc::closed);
    finish(enter(b), errc::closed);
}

}  // namespace
}  // namespace latchkey::test
