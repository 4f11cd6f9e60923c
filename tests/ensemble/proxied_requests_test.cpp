// Each write of the library, on real servers, when its outcome stays unknown: what the caller is
// told, and what is left on the servers.
#include "proxied_clients.hpp"

#include <array>
#include <future>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

struct fault {
    const char* name;
    fault_proxy::part lost;
    fault_proxy::then next;

    friend void PrintTo(const fault& f, std::ostream* to) { *to << f.name; }
};

class ProxiedRequest : public ProxiedClients, public ::testing::WithParamInterface<fault> {
protected:
    void lose(fault_proxy::selection which) {
        present().lose(GetParam().lost, GetParam().next, std::move(which));
    }

    static bool applied() { return GetParam().lost == part::reply; }

    /// One that is granted although something was lost once.
    void expect_hold_after_a_loss_of(opcode what) {
        lose({.operation = what});
        hold h = mutex_->acquire();
        EXPECT_EQ(lost(), 1U);
        expect_sole_holder(h);
        expect_released(std::move(h));
    }
};

INSTANTIATE_TEST_SUITE_P(
    Of,
    ProxiedRequest,
    ::testing::Values(
        fault{"LostThenCut", fault_proxy::part::request, fault_proxy::then::cut},
        fault{"AppliedThenCut", fault_proxy::part::reply, fault_proxy::then::cut},
        fault{"AppliedThenSilence", fault_proxy::part::reply, fault_proxy::then::silence}),
    [](const auto& p) { return p.param.name; });

TEST_P(ProxiedRequest, OfTheCreateIsAHoldWithOneZnodeThatWasCreatedOnce) {
    connect(4s);
    ASSERT_TRUE(mutex_->acquire().release_and_wait());
    expect_hold_after_a_loss_of(opcode::create2);
    EXPECT_EQ(passed(opcode::create2), 2U);
}

TEST_P(ProxiedRequest, OfAContainersCreateIsAHoldWithOneZnode) {
    connect(4s);
    expect_hold_after_a_loss_of(opcode::create_container);
}

TEST_P(ProxiedRequest, OfTheDeleteIsRepeatedUntilTheZnodeIsGone) {
    connect(4s);
    hold h = mutex_->acquire();
    lose({.operation = opcode::remove});
    EXPECT_TRUE(h.release_and_wait());
    EXPECT_EQ(lost(), 1U);
    EXPECT_EQ(passed(opcode::remove), applied() ? 2U : 1U);
    EXPECT_TRUE(theirs_.try_acquire_for(30s));
}

TEST_P(ProxiedRequest, OfAHeartbeatCostsTheConnectionAndNotTheHold) {
    connect(10s);
    hold h = mutex_->acquire();
    lose({.operation = opcode::multi, .parts = {opcode::check}});
    ASSERT_TRUE(eventually([&] { return lost() == 1; }));
    const auto believed = h.valid_until();
    EXPECT_TRUE(eventually([&] { return h.valid_until() > believed || !h.valid(); }));
    expect_sole_holder(h);
    expect_released(std::move(h));
}

TEST_P(ProxiedRequest, OfATransactionIsIndeterminateAppliedAtMostOnceAndTheHoldGoesOn) {
    connect(10s);
    hold h = holder_with_a_target();
    lose(a_guarded_set);
    std::error_code ec;
    h.transact({operation::set(target_, "once")}, ec);
    EXPECT_EQ(ec, errc::indeterminate);
    EXPECT_EQ(lost(), 1U);
    EXPECT_EQ(version_of(target_), applied() ? 1 : 0);
    h.transact({operation::set(target_, "again")}, ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(version_of(target_), applied() ? 2 : 1);
    expect_sole_holder(h);
    expect_released(std::move(h));
}

TEST_P(ProxiedRequest, OfTheEndOfASessionLeavesNothingForLongerThanTheSessionLives) {
    connect(2s);
    hold h = mutex_->acquire();
    const std::string trace = path_ + "-trace";
    ASSERT_TRUE(blocking_read(*client_core::of(*client_),
                              request::create(trace, "", create_mode::ephemeral, open_unsafe_acl()))
                    .ok());
    lose({.operation = opcode::close_session});
    client_->close();
    EXPECT_EQ(h.why_lost(), loss_reason::client_closed);
    EXPECT_TRUE(world_->children(path_).empty()) << "the znode is deleted before the end";
    EXPECT_EQ(lost() + passed(opcode::close_session), applied() ? 2U : 1U);
    EXPECT_TRUE(eventually([&] { return !version_of(trace); }));
}

class ProxiedOutcome : public ProxiedClients {
protected:
    /// A transaction on its way: what it will end with.
    std::future<std::error_code> setting_the_target(hold& h) {
        auto told = std::make_shared<std::promise<std::error_code>>();
        h.async_transact({operation::set(target_, "x")},
                         [told](std::error_code ec, const auto&) { told->set_value(ec); });
        return told->get_future();
    }
};

// A reply that is missing among others: the C client finds that numbers do not match (-2).
TEST_F(ProxiedOutcome, OfACreateAmongMismatchedAnswersIsAHoldWithOneZnode) {
    connect(10s);
    ASSERT_TRUE(mutex_->acquire().release_and_wait());
    present().lose(part::reply, then::go_on, {.operation = opcode::create2});
    hold h = mutex_->acquire();
    EXPECT_EQ(lost(), 1U);
    expect_sole_holder(h);
    EXPECT_EQ(passed(opcode::create2), 2U);
}

TEST_F(ProxiedOutcome, OfTransactionsAmongMismatchedAnswersIsIndeterminate) {
    connect(10s);
    hold h = holder_with_a_target();
    // The answer to this read must not be the one that does not match.
    ASSERT_TRUE(eventually([&] { return present().counted().replies[opcode::get_data] == 1; }));
    present().lose(part::reply, then::go_on, a_guarded_set);
    std::array told{setting_the_target(h), setting_the_target(h)};
    for (auto& each : told) {
        EXPECT_EQ(each.get(), errc::indeterminate);
    }
    EXPECT_EQ(version_of(target_), 2);
    expect_sole_holder(h);
}

TEST_F(ProxiedOutcome, OfATransactionWhoseClientIsClosedIsIndeterminate) {
    connect(10s, 200ms);
    hold h = holder_with_a_target();
    present().lose(part::reply, then::silence, a_guarded_set);
    auto told = setting_the_target(h);
    ASSERT_TRUE(eventually([&] { return lost() == 1; }));
    client_->close();
    EXPECT_EQ(told.get(), errc::indeterminate);
    EXPECT_EQ(version_of(target_), 1);
    expect_nothing_left();
}

TEST_F(ProxiedOutcome, OfATransactionWhoseSessionEndsIsIndeterminateAndTheHoldIsLost) {
    connect(4s);
    hold h = holder_with_a_target();
    const std::int64_t session = client_->session_id();
    present().lose(part::reply, then::silence, a_guarded_set);
    auto told = setting_the_target(h);
    ASSERT_TRUE(eventually([&] { return lost() == 1; }));
    world_->expire(session);
    EXPECT_TRUE(world_->children(path_).empty());
    EXPECT_EQ(told.get(), errc::indeterminate);
    EXPECT_TRUE(eventually([&] { return !h.valid(); }));
    EXPECT_NE(h.why_lost(), loss_reason::none);
    EXPECT_EQ(version_of(target_), 1);
    EXPECT_EQ(setting_the_target(h).get(), errc::hold_lost);
    EXPECT_EQ(version_of(target_), 1);
}

// Whatever server it tries next, the first answer does not come.
TEST_F(ProxiedOutcome, OfAHandshakeIsTheSameSessionAndHold) {
    connect(10s);
    hold h = mutex_->acquire();
    const std::int64_t session = client_->session_id();
    std::size_t expected = 0;
    for (const auto& [what, next] : {std::pair(part::request, then::cut),
                                     std::pair(part::reply, then::cut),
                                     std::pair(part::reply, then::silence)}) {
        fault_proxy& before = present();
        for (const auto& proxy : proxies_) {
            proxy->lose(what, next, {.operation = opcode::connect});
        }
        before.cut(tcp_proxy::ending::fin);
        expected += proxies_.size();
        EXPECT_TRUE(eventually([&] { return lost() == expected; }));
        EXPECT_TRUE(eventually([&] { return client_->state() == connection_state::reconnected; }));
        expect_sole_holder(h);
    }
    EXPECT_EQ(client_->session_id(), session);
    EXPECT_FALSE(h.lost().stop_requested());
}

}  // namespace
}  // namespace latchkey::test
