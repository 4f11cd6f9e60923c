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
    service(const latchkey::client& zk, std::function<void(latchkey::loss_reason)> on_loss)
        : active_(zk, "/service/active"), guard_(active_, 30s) {
        guard_.on_loss(std::move(on_loss));
    }

    [[nodiscard]] bool works() const { return guard_.valid(); }

    [[nodiscard]] latchkey::fencing_token token() const { return guard_.token(); }

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
    EXPECT_EQ(stopped.get_future().get(), latchkey::loss_reason::session_expired);
    EXPECT_FALSE(s.works());
}

TEST(Service, StopsBeforeAnotherOneStartsWhenTheNetworkFails) {
    latchkey::testing::ensemble servers;
    auto zk = servers.connect({.session_timeout = 6s});
    const service first(zk, [](latchkey::loss_reason) {});

    servers.suspend(zk.session_id());  // no server is reached any more
    servers.advance(6s);               // six seconds pass at once
    EXPECT_FALSE(first.works());

    servers.advance(20s);  // the servers end the session
    auto another = servers.connect();
    const service second(another, [](latchkey::loss_reason) {});
    EXPECT_TRUE(second.works());
    EXPECT_GT(second.token(), first.token());
}
