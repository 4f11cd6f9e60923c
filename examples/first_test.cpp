// Tests a service without servers: the ensemble runs inside this process and fails on demand.
#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>

#include <functional>
#include <future>
#include <utility>

#include <gtest/gtest.h>

using namespace std::chrono_literals;

/// The code under test. It works only while it holds the lock.
class service {
public:
    service(const latchkey::client& zk, std::function<void(latchkey::loss_reason)> stop)
        : active_(zk, "/service/active"), guard_(active_, 30s) {
        guard_.on_loss(std::move(stop));
    }

    [[nodiscard]] bool works() const { return guard_.valid(); }

private:
    latchkey::mutex active_;
    latchkey::guard guard_;
};

TEST(Service, StopsWhenItsSessionExpires) {
    latchkey::testing::ensemble servers;
    auto zk = servers.connect();
    std::promise<latchkey::loss_reason> stopped;
    const service s(zk, [&](latchkey::loss_reason why) { stopped.set_value(why); });
    ASSERT_TRUE(s.works());

    servers.expire(zk.session_id());
    // The servers delete the znodes of a session before they hang up: either news may come first.
    const latchkey::loss_reason why = stopped.get_future().get();
    EXPECT_TRUE(why == latchkey::loss_reason::session_expired ||
                why == latchkey::loss_reason::znode_deleted);
    EXPECT_FALSE(s.works());
}
