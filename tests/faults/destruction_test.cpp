#include "lock_fixture.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

namespace latchkey::test {
namespace {

class DestructionOf : public LockSteps {
protected:
    DestructionOf() { warm_up(*mutex_); }

    void start() {
        mutex_->async_acquire({}, [this](std::error_code ec, hold h) {
            ++calls_;
            told_ = ec;
            hold_ = std::move(h);
        });
    }

    void start_and_hold() {
        start();
        ASSERT_TRUE(soon([&] { return hold_.valid(); }));
    }

    void destroy_all() {
        hold_ = {};
        mutex_.reset();
        client_.reset();
    }

    client other_ = connected();
    mutex others_{other_, "/lock"};
    hold ahead_;

    std::unique_ptr<client> client_ = std::make_unique<client>(connected());
    std::unique_ptr<mutex> mutex_ = std::make_unique<mutex>(*client_, "/lock");
    subscription listening_;
    hold hold_;
    int calls_ = 0;
    std::error_code told_;
};

/// What is destroyed, and in which state of an acquire.
class Destruction : public DestructionOf,
                    public ::testing::WithParamInterface<std::tuple<std::string, std::string>> {
protected:
    using steps = std::map<std::string, std::function<void()>>;

    const std::string stage_ = std::get<0>(GetParam());
    const std::string victim_ = std::get<1>(GetParam());

    const steps bring_to_{
        {"Idle", [] {}},
        {"Creating",
         [this] {
             start();
             ensemble_.run_for(one_way / 2);
         }},
        {"Resolving",
         [this] {
             const std::int64_t session = client_->session_id();
             ensemble_.fail_next(op::create, when::after, session);
             start();
             ASSERT_TRUE(soon([&] { return ensemble_.count(session).checks == 1; }));
         }},
        {"Waiting",
         [this] {
             ahead_ = held(others_);
             start();
             ensemble_.run_for(1s);
         }},
        {"Held", [this] { start_and_hold(); }},
        {"Releasing",
         [this] {
             start_and_hold();
             hold_.release();
             ensemble_.run_for(one_way / 2);
         }},
        {"Lost", [this] {
             start_and_hold();
             ensemble_.expire(client_->session_id());
             expect_lost(hold_, loss_reason::session_expired);
         }}};

    const steps destroy_{{"Mutex", [this] { mutex_.reset(); }},
                         {"Client", [this] { client_.reset(); }},
                         {"Hold", [this] { hold_ = {}; }},
                         {"AllInACallback", [this] {
                              listening_ =
                                  client_->on_change([this](connection_state) { destroy_all(); });
                              ensemble_.cut(client_->session_id());
                          }}};
};

INSTANTIATE_TEST_SUITE_P(
    Of,
    Destruction,
    ::testing::Combine(
        ::testing::Values("Idle", "Creating", "Resolving", "Waiting", "Held", "Releasing", "Lost"),
        ::testing::Values("Mutex", "Client", "Hold", "AllInACallback")),
    [](const auto& p) { return std::get<1>(p.param) + "While" + std::get<0>(p.param); });

TEST_P(Destruction, IsReportedToEachCallerOnceAndLeavesNothing) {
    bring_to_.at(stage_)();
    if (HasFatalFailure()) {
        return;
    }
    const std::int64_t session = client_->session_id();
    destroy_.at(victim_)();
    ensemble_.run_for(20s);
    ahead_.release();
    ensemble_.run_for(20s);
    EXPECT_EQ(calls_, stage_ == "Idle" ? 0 : 1);
    const bool client_gone = victim_ == "Client" || victim_ == "AllInACallback";
    EXPECT_EQ(client_ == nullptr, client_gone);
    if (client_gone) {
        EXPECT_FALSE(hold_.valid());
        const bool was_pending =
            stage_ == "Creating" || stage_ == "Resolving" || stage_ == "Waiting";
        EXPECT_EQ(told_ == errc::closed, was_pending) << told_.message();
        for (const auto& info : ensemble_.sessions()) {
            EXPECT_FALSE(info.id == session && info.alive);
        }
    } else {
        EXPECT_FALSE(told_) << told_.message();
    }
    hold_ = {};
    ensemble_.run_for(5s);
    EXPECT_EQ(in_queue(), 0U);
    EXPECT_TRUE(held(others_).valid());
}

TEST_F(DestructionOf, EverythingInTheHandlerOfItsAcquireLeavesNothing) {
    mutex_->async_acquire({}, [this](std::error_code, hold h) {
        ++calls_;
        hold_ = std::move(h);
        destroy_all();
    });
    ensemble_.run_for(5s);
    EXPECT_EQ(calls_, 1);
    EXPECT_TRUE(ensemble_.children("/lock").empty());
}

TEST_F(DestructionOf, AClientTellsAllWhoWaitForOneObject) {
    const hold ahead = held(others_);
    int told = 0;
    for (int i = 0; i < 4; ++i) {
        mutex_->async_acquire(
            {}, [&](std::error_code ec, const hold&) { told += ec == errc::closed ? 1 : 0; });
    }
    ensemble_.run_for(1s);
    client_->close();
    ensemble_.run_for(5s);
    EXPECT_EQ(told, 4);
}

TEST_F(DestructionOf, EverythingWhenItsLossIsToldLeavesNothing) {
    start_and_hold();
    const std::stop_callback end(hold_.lost(), [this] { destroy_all(); });
    ensemble_.expire(client_->session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(client_, nullptr);
    EXPECT_TRUE(held(others_).valid());
}

TEST_F(DestructionOf, TheEnsembleBeforeItsClientsEndsNothingButTheServers) {
    start_and_hold();
    auto doomed = std::make_unique<ensemble>(exact());
    client orphan = doomed->connect();
    mutex m(orphan, "/lock");
    hold granted;
    m.async_acquire({}, [&](std::error_code, hold h) { granted = std::move(h); });
    ASSERT_TRUE(doomed->run_until([&] { return static_cast<bool>(granted); }, 10s));
    doomed.reset();
    EXPECT_EQ(orphan.state(), connection_state::closed);
    EXPECT_FALSE(granted.valid());
    granted.release();
    orphan.close();
}

TEST_F(DestructionOf, TheEnsembleInTheMiddleRunsNobodysCodeAndLeavesNothing) {
    for (int steps = 0; steps < 60; ++steps) {
        SCOPED_TRACE(steps);
        std::weak_ptr<client_core> holders;
        std::weak_ptr<client_core> waiters;
        int told = 0;
        {
            ensemble doomed(exact());
            client one = doomed.connect();
            client two = doomed.connect();
            holders = client_core::of(one);
            waiters = client_core::of(two);
            mutex first(one, "/lock");
            mutex second(two, "/lock");
            hold granted;
            first.async_acquire({}, [&](std::error_code, hold h) { granted = std::move(h); });
            ASSERT_TRUE(doomed.run_until([&] { return static_cast<bool>(granted); }, 10s));
            second.async_acquire({}, [&](std::error_code, const hold&) { ++told; });
            for (int i = 0; i < steps; ++i) {
                doomed.step();
            }
            EXPECT_EQ(told, 0);
        }
        EXPECT_EQ(told, 0);
        EXPECT_TRUE(holders.expired());
        EXPECT_TRUE(waiters.expired());
    }
}

}  // namespace
}  // namespace latchkey::test
