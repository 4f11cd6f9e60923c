// Connections to real servers that break at any byte, fall silent in one direction, or are late.
#include "proxied_clients.hpp"
#include "queued.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using clock = std::chrono::steady_clock;

class ProxiedConnection : public ProxiedClients {
protected:
    [[nodiscard]] std::uint64_t delivered(direction way) const {
        return sum_of([way](const fault_proxy& p) { return p.delivered(way); });
    }

    [[nodiscard]] std::size_t accepted_by_all() const {
        return sum_of([](const fault_proxy& p) { return p.accepted(); });
    }

    /// Acquires and releases with the connection cut after each number of bytes that such a
    /// conversation has, one after the other.
    void expect_one_holder_wherever_it_is_cut(direction way) {
        connect(10s);
        ASSERT_TRUE(mutex_->acquire().release_and_wait());
        const auto before = delivered(way);
        ASSERT_TRUE(mutex_->acquire().release_and_wait());
        const auto bytes = delivered(way) - before;
        ASSERT_GT(bytes, 100U);
        std::size_t tried = 0;
        std::size_t cuts = 0;
        const auto start = clock::now();
        // Every byte; on a slow machine not every one of the last, and yet within every frame.
        for (std::uint64_t k = 0; k < bytes; k += clock::now() - start < 15s ? 1 : 7) {
            SCOPED_TRACE("cut after " + std::to_string(k) + " bytes of " + std::to_string(bytes));
            fault_proxy& proxy = present();
            const auto accepted = accepted_by_all();
            proxy.cut_after(k, way, k % 2 == 0 ? tcp_proxy::ending::fin : tcp_proxy::ending::rst);
            hold h = mutex_->acquire();
            expect_sole_holder(h);
            EXPECT_TRUE(h.release_and_wait());
            proxy.pass();
            expect_nothing_left();
            ++tried;
            cuts += accepted_by_all() > accepted ? 1 : 0;
            if (HasFailure()) {
                return;
            }
        }
        // The conversation varies by a few bytes.
        EXPECT_GE(cuts, tried * 9 / 10);
    }

    /// A fault of the present connection costs it, and not the hold.
    void expect_another_server_in_time(const std::function<void(fault_proxy&)>& fault) {
        connect(10s);
        hold h = mutex_->acquire();
        const auto accepted = accepted_by_all();
        fault(present());
        const auto believed = h.valid_until();
        EXPECT_TRUE(eventually([&] {
            return !h.valid() || (accepted_by_all() > accepted && h.valid_until() > believed);
        }));
        expect_sole_holder(h);
        EXPECT_FALSE(h.lost().stop_requested());
        expect_released(std::move(h));
    }
};

TEST_F(ProxiedConnection, CutAfterAnyByteOfWhatIsAskedHasOneHolderAndLeavesNothing) {
    expect_one_holder_wherever_it_is_cut(direction::to_server);
}

TEST_F(ProxiedConnection, CutAfterAnyByteOfWhatIsAnsweredHasOneHolderAndLeavesNothing) {
    expect_one_holder_wherever_it_is_cut(direction::to_client);
}

TEST_F(ProxiedConnection, ThatIsHalfOpenIsLeftForAnotherServerBeforeTheHoldIsInvalid) {
    expect_another_server_in_time([](auto& proxy) { proxy.stall(direction::to_client); });
}

TEST_F(ProxiedConnection, WhoseServerHearsNothingIsLeftBeforeTheHoldIsInvalid) {
    expect_another_server_in_time([](auto& proxy) { proxy.stall(direction::to_server); });
}

TEST_F(ProxiedConnection, WithLateEventsGrantsLateAndRight) {
    connect(10s);
    hold first = theirs_.acquire();
    auto granted = queued(*mutex_);
    fault_proxy& proxy = present();
    ASSERT_TRUE(eventually([&] { return proxy.counted().replies[opcode::get_data] == 2; }));
    proxy.delay_events(500ms);
    const auto start = clock::now();
    const fencing_token earlier = first.token();
    first.release();
    hold h = granted.get();
    EXPECT_GE(clock::now() - start, 500ms) << "the fault was not there";
    EXPECT_EQ(proxy.counted().events, 1U);
    EXPECT_GT(h.token(), earlier);
    expect_sole_holder(h);
}

// The hold does not know yet; what it writes under guard is refused all the same.
TEST_F(ProxiedConnection, WithLateEventsRefusesATransactionOfAHoldWhoseZnodeWasDeleted) {
    connect(10s);
    hold h = mutex_->acquire();
    fault_proxy& proxy = present();
    ASSERT_TRUE(eventually([&] { return proxy.counted().replies[opcode::get_data] == 1; }));
    proxy.delay_events(2s);
    world_->remove(h.path());
    ASSERT_TRUE(eventually([&] { return proxy.counted().events == 1; }));
    std::error_code ec;
    h.transact({operation::create(path_ + "-effect")}, ec);
    EXPECT_EQ(ec, errc::hold_lost);
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
    EXPECT_EQ(version_of(path_ + "-effect"), std::nullopt);
}

}  // namespace
}  // namespace latchkey::test
