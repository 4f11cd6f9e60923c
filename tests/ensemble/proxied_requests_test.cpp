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
    fault_proxy::part lost;
    fault_proxy::then next;
};

std::string name_of(const fault& f) {
    if (f.lost == fault_proxy::part::request) {
        return "LostThenCut";
    }
    return f.next == fault_proxy::then::cut ? "AppliedThenCut" : "AppliedThenSilence";
}

void PrintTo(const fault& f, std::ostream* to) {
    *to << name_of(f);
}

class ProxiedRequest : public ProxiedClients, public ::testing::WithParamInterface<fault> {
protected:
    void lose(fault_proxy::selection which) {
        present().lose(GetParam().lost, GetParam().next, std::move(which));
    }

    static bool applied() { return GetParam().lost == part::reply; }

    static constexpr auto short_timeout = 4s;  ///< where nothing is held meanwhile
    static constexpr auto long_timeout = 10s;
};

INSTANTIATE_TEST_SUITE_P(
    Of,
    ProxiedRequest,
    ::testing::Values(fault{fault_proxy::part::request, fault_proxy::then::cut},
                      fault{fault_proxy::part::reply, fault_proxy::then::cut},
                      fault{fault_proxy::part::reply, fault_proxy::then::silence}),
    [](const auto& p) { return name_of(p.param); });

TEST_P(ProxiedRequest, OfTheCreateIsAHoldWithOneZnodeThatWasCreatedOnce) {
    client c = connect(short_timeout);
    mutex m(c, path_);
    ASSERT_TRUE(m.acquire().release_and_wait());
    lose({.operation = opcode::create2});
    hold h = m.acquire();
    EXPECT_EQ(lost(), 1U);
    expect_sole_holder(h, c);
    EXPECT_EQ(passed(opcode::create2), 2U);
    EXPECT_TRUE(h.release_and_wait());
    expect_nothing_left();
}

TEST_P(ProxiedRequest, OfAContainersCreateIsAHoldWithOneZnode) {
    client c = connect(short_timeout);
    mutex m(c, path_);
    lose({.operation = opcode::create_container});
    hold h = m.acquire();
    EXPECT_EQ(lost(), 1U);
    expect_sole_holder(h, c);
    EXPECT_TRUE(h.release_and_wait());
    expect_nothing_left();
}

TEST_P(ProxiedRequest, OfTheDeleteIsRepeatedUntilTheZnodeIsGone) {
    client c = connect(short_timeout);
    mutex m(c, path_);
    hold h = m.acquire();
    lose({.operation = opcode::remove});
    EXPECT_TRUE(h.release_and_wait());
    EXPECT_EQ(lost(), 1U);
    EXPECT_EQ(passed(opcode::remove), applied() ? 2U : 1U);
    EXPECT_TRUE(theirs_.try_acquire_for(30s));
}

TEST_P(ProxiedRequest, OfAHeartbeatCostsTheConnectionAndNotTheHold) {
    client c = connect(long_timeout);
    mutex m(c, path_);
    hold h = m.acquire();
    lose({.operation = opcode::multi, .parts = {opcode::check}});
    ASSERT_TRUE(eventually([&] { return lost() == 1; }));
    const auto believed = h.valid_until();
    EXPECT_TRUE(eventually([&] { return h.valid_until() > believed || !h.valid(); }));
    expect_sole_holder(h, c);
    EXPECT_TRUE(h.release_and_wait());
    expect_nothing_left();
}

TEST_P(ProxiedRequest, OfATransactionIsIndeterminateAppliedAtMostOnceAndTheHoldGoesOn) {
    client c = connect(long_timeout);
    mutex m(c, path_);
    const std::string target = path_ + "-target";
    world_->create(target);
    hold h = m.acquire();
    lose({.operation = opcode::multi, .parts = {opcode::check, opcode::set_data}});
    std::error_code ec;
    h.transact({operation::set(target, "once")}, ec);
    EXPECT_EQ(ec, errc::indeterminate);
    EXPECT_EQ(lost(), 1U);
    EXPECT_EQ(version_of(target), applied() ? 1 : 0);
    h.transact({operation::set(target, "again")}, ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(version_of(target), applied() ? 2 : 1);
    expect_sole_holder(h, c);
    EXPECT_TRUE(h.release_and_wait());
    expect_nothing_left();
}

TEST_P(ProxiedRequest, OfTheEndOfASessionLeavesNothingForLongerThanTheSessionLives) {
    auto c = std::make_unique<client>(connect(2s));
    mutex m(*c, path_);
    hold h = m.acquire();
    const std::string trace = path_ + "-trace";
    ASSERT_TRUE(blocking_read(*client_core::of(*c),
                              request::create(trace, "", create_mode::ephemeral, open_unsafe_acl()))
                    .ok());
    lose({.operation = opcode::close_session});
    c.reset();
    EXPECT_EQ(h.why_lost(), loss_reason::client_closed);
    EXPECT_TRUE(world_->children(path_).empty()) << "the znode is deleted before the end";
    EXPECT_EQ(lost() + passed(opcode::close_session), applied() ? 2U : 1U);
    EXPECT_TRUE(eventually([&] { return !version_of(trace); }));
}

class ProxiedOutcome : public ProxiedClients {};

// A reply that is missing among others: the C client finds that numbers do not match (-2).
TEST_F(ProxiedOutcome, OfACreateAmongMismatchedAnswersIsAHoldWithOneZnode) {
    client c = connect(10s);
    mutex m(c, path_);
    ASSERT_TRUE(m.acquire().release_and_wait());
    present().lose(part::reply, then::go_on, {.operation = opcode::create2});
    hold h = m.acquire();
    EXPECT_EQ(lost(), 1U);
    expect_sole_holder(h, c);
    EXPECT_EQ(passed(opcode::create2), 2U);
}

TEST_F(ProxiedOutcome, OfTransactionsAmongMismatchedAnswersIsIndeterminate) {
    client c = connect(10s);
    mutex m(c, path_);
    const std::string target = path_ + "-target";
    world_->create(target);
    hold h = m.acquire();
    // The answer to this read must not be the one that does not match.
    ASSERT_TRUE(eventually([&] { return present().counted().replies[opcode::get_data] == 1; }));
    present().lose(part::reply,
                   then::go_on,
                   {.operation = opcode::multi, .parts = {opcode::check, opcode::set_data}});
    std::array<std::promise<std::error_code>, 2> told;
    for (auto& each : told) {
        h.async_transact({operation::set(target, "x")},
                         [&each](std::error_code ec, const auto&) { each.set_value(ec); });
    }
    for (auto& each : told) {
        EXPECT_EQ(each.get_future().get(), errc::indeterminate);
    }
    EXPECT_EQ(version_of(target), 2);
    expect_sole_holder(h, c);
}

TEST_F(ProxiedOutcome, OfATransactionWhoseClientIsClosedIsIndeterminate) {
    auto c = std::make_unique<client>(connect(10s, 200ms));
    mutex m(*c, path_);
    const std::string target = path_ + "-target";
    world_->create(target);
    hold h = m.acquire();
    present().lose(part::reply,
                   then::silence,
                   {.operation = opcode::multi, .parts = {opcode::check, opcode::set_data}});
    std::promise<std::error_code> told;
    h.async_transact({operation::set(target, "x")},
                     [&](std::error_code ec, const auto&) { told.set_value(ec); });
    ASSERT_TRUE(eventually([&] { return lost() == 1; }));
    c.reset();
    EXPECT_EQ(told.get_future().get(), errc::indeterminate);
    EXPECT_EQ(version_of(target), 1);
    expect_nothing_left();
}

TEST_F(ProxiedOutcome, OfATransactionWhoseSessionEndsIsIndeterminateAndTheHoldIsLost) {
    client c = connect(4s);
    mutex m(c, path_);
    const std::string target = path_ + "-target";
    world_->create(target);
    hold h = m.acquire();
    const std::int64_t session = c.session_id();
    present().lose(part::reply,
                   then::silence,
                   {.operation = opcode::multi, .parts = {opcode::check, opcode::set_data}});
    std::promise<std::error_code> told;
    h.async_transact({operation::set(target, "x")},
                     [&](std::error_code ec, const auto&) { told.set_value(ec); });
    ASSERT_TRUE(eventually([&] { return lost() == 1; }));
    world_->expire(session);
    EXPECT_TRUE(world_->children(path_).empty());
    EXPECT_EQ(told.get_future().get(), errc::indeterminate);
    EXPECT_TRUE(eventually([&] { return !h.valid(); }));
    EXPECT_NE(h.why_lost(), loss_reason::none);
    EXPECT_EQ(version_of(target), 1);
    std::error_code ec;
    h.transact({operation::set(target, "y")}, ec);
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_EQ(version_of(target), 1);
}

// Whatever server it tries next, the first answer does not come.
TEST_F(ProxiedOutcome, OfAHandshakeIsTheSameSessionAndHold) {
    client c = connect(10s);
    mutex m(c, path_);
    hold h = m.acquire();
    const std::int64_t session = c.session_id();
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
        EXPECT_TRUE(eventually([&] { return c.state() == connection_state::reconnected; }));
        expect_sole_holder(h, c);
    }
    EXPECT_EQ(c.session_id(), session);
    EXPECT_FALSE(h.lost().stop_requested());
}

}  // namespace
}  // namespace latchkey::test
