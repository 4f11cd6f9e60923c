#include "client/client_core.hpp"
#include "stepped_test.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

namespace latchkey::test {
namespace {

/// In which state of an acquire something is destroyed.
enum class stage : std::uint8_t { idle, creating, resolving, waiting, held, releasing, lost };

/// What is destroyed; `all_in_a_callback`: everything, by a listener of the client itself.
enum class victim : std::uint8_t { mutex_object, whole_client, hold_object, all_in_a_callback };

std::string name_of(stage s) {
    switch (s) {
        case stage::idle:
            return "Idle";
        case stage::creating:
            return "Creating";
        case stage::resolving:
            return "Resolving";
        case stage::waiting:
            return "Waiting";
        case stage::held:
            return "Held";
        case stage::releasing:
            return "Releasing";
        case stage::lost:
            break;
    }
    return "Lost";
}

std::string name_of(victim v) {
    switch (v) {
        case victim::mutex_object:
            return "Mutex";
        case victim::whole_client:
            return "Client";
        case victim::hold_object:
            return "Hold";
        case victim::all_in_a_callback:
            break;
    }
    return "AllInACallback";
}

class DestructionOf : public SteppedTest {
protected:
    DestructionOf() {
        held(*mutex_).release();  // the directory is there
        settle();
    }

    void start() {
        mutex_->async_acquire({}, [this](std::error_code ec, hold h) {
            ++calls_;
            told_ = ec;
            hold_ = std::move(h);
        });
    }

    void start_and_hold() {
        start();
        ASSERT_TRUE(ensemble_.run_until([&] { return hold_.valid(); }, 10s));
    }

    void bring_to(stage s) {
        const std::int64_t session = client_->session_id();
        switch (s) {
            case stage::idle:
                return;
            case stage::creating:
                start();
                ensemble_.run_for(one_way / 2);
                return;
            case stage::resolving:
                ensemble_.fail_next(ensemble::request_kind::create, ensemble::when::after, session);
                start();
                ASSERT_TRUE(
                    ensemble_.run_until([&] { return ensemble_.count(session).checks == 1; }, 10s));
                return;
            case stage::waiting:
                ahead_ = held(others_);
                start();
                ensemble_.run_for(1s);
                return;
            case stage::held:
                start_and_hold();
                return;
            case stage::releasing:
                start_and_hold();
                hold_.release();
                ensemble_.run_for(one_way / 2);
                return;
            case stage::lost:
                start_and_hold();
                ensemble_.expire(session);
                ASSERT_TRUE(
                    ensemble_.run_until([&] { return hold_.lost().stop_requested(); }, 10s));
                return;
        }
    }

    void destroy_all() {
        hold_ = {};
        mutex_.reset();
        client_.reset();
    }

    void destroy(victim v) {
        switch (v) {
            case victim::mutex_object:
                mutex_.reset();
                return;
            case victim::whole_client:
                client_.reset();
                return;
            case victim::hold_object:
                hold_ = {};
                return;
            case victim::all_in_a_callback:
                listening_ = client_->on_change([this](connection_state) { destroy_all(); });
                ensemble_.cut(client_->session_id());
                return;
        }
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

class Destruction : public DestructionOf,
                    public ::testing::WithParamInterface<std::tuple<stage, victim>> {};

INSTANTIATE_TEST_SUITE_P(Of,
                         Destruction,
                         ::testing::Combine(::testing::Values(stage::idle,
                                                              stage::creating,
                                                              stage::resolving,
                                                              stage::waiting,
                                                              stage::held,
                                                              stage::releasing,
                                                              stage::lost),
                                            ::testing::Values(victim::mutex_object,
                                                              victim::whole_client,
                                                              victim::hold_object,
                                                              victim::all_in_a_callback)),
                         [](const auto& p) {
                             return name_of(std::get<1>(p.param)) + "While" +
                                    name_of(std::get<0>(p.param));
                         });

TEST_P(Destruction, TellsEachCallerOnceAndLeavesNothing) {
    const auto [s, v] = GetParam();
    bring_to(s);
    if (HasFatalFailure()) {
        return;
    }
    const std::int64_t session = client_->session_id();
    destroy(v);
    ensemble_.run_for(20s);
    ahead_.release();
    ensemble_.run_for(20s);
    EXPECT_EQ(calls_, s == stage::idle ? 0 : 1);
    const bool client_gone = v == victim::whole_client || v == victim::all_in_a_callback;
    EXPECT_EQ(client_ == nullptr, client_gone);
    if (client_gone) {
        EXPECT_FALSE(hold_.valid());
        const bool was_pending =
            s == stage::creating || s == stage::resolving || s == stage::waiting;
        EXPECT_EQ(told_ == errc::closed, was_pending) << told_.message();
        for (const auto& info : ensemble_.sessions()) {
            EXPECT_FALSE(info.id == session && info.alive);
        }
    } else {
        EXPECT_FALSE(told_) << told_.message();
    }
    hold_ = {};
    ensemble_.run_for(5s);
    EXPECT_TRUE(ensemble_.children("/lock").empty());
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
    std::error_code told;
    hold granted;
    m.async_acquire({}, [&](std::error_code ec, hold h) {
        told = ec;
        granted = std::move(h);
    });
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
