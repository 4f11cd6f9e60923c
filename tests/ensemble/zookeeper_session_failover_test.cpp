#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "session_probe.hpp"
#include "tcp_proxy.hpp"

#include <chrono>
#include <future>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using test::eventually;
using test::real_ensemble;
using test::session_probe;
using kind = session_event::kind;

request create(std::string path, create_mode mode) {
    return request::create(std::move(path), "", mode, open_unsafe_acl());
}

TEST(ZooKeeperSessionFailover, KeepsItsSessionWhenItsServerIsKilledOrHangs) {
    real_ensemble servers;
    session_probe s(servers.connect_string(), milliseconds(6000));
    ASSERT_TRUE(s.wait_for(kind::connected));
    const auto id = s.last(kind::connected).id;
    const auto path = real_ensemble::fresh_path();
    ASSERT_TRUE(s.call(create(path, create_mode::ephemeral)).ok());

    const auto its_server = [&] {
        int server = 0;
        EXPECT_TRUE(eventually([&] { return (server = servers.server_of(id)) != 0; }));
        return server;
    };
    const int first = its_server();
    servers.kill(first);
    ASSERT_TRUE(s.wait_for(kind::connected, 2));
    EXPECT_EQ(s.last(kind::connected).id, id);
    ASSERT_TRUE(eventually([&] { return s.call(request::exists(path)).ok(); }));
    servers.restart(first);

    // An election may have cost further connections, as few or many as it likes.
    const int second = its_server();
    ASSERT_NE(second, first);
    const std::size_t connections = s.count(kind::connected);
    servers.pause(second);
    auto unanswered = s.submit(request::exists(path));
    ASSERT_TRUE(s.wait_for(kind::connected, connections + 1));
    EXPECT_TRUE(outcome_unknown(session_probe::awaited(std::move(unanswered)).code));
    EXPECT_EQ(s.last(kind::connected).id, id);
    EXPECT_NE(servers.server_of(id), second);
    EXPECT_TRUE(eventually([&] { return s.call(request::exists(path)).ok(); }));
    servers.resume(second);
    EXPECT_EQ(s.count(kind::expired), 0U);
}

TEST(ZooKeeperSessionFailover, LearnsOfItsExpiryWhenItReachesAServerAgain) {
    const real_ensemble servers({.servers = 1});
    test::tcp_proxy proxy(servers.address(1));
    session_probe watching(servers.connect_string());
    session_probe s(proxy.address(), milliseconds(2000));
    ASSERT_TRUE(s.wait_for(kind::connected));
    const auto path = real_ensemble::fresh_path();
    ASSERT_TRUE(s.call(create(path, create_mode::ephemeral)).ok());
    proxy.black_hole();
    auto lost = s.submit(request::exists(path));
    ASSERT_TRUE(s.wait_for(kind::suspended));
    EXPECT_TRUE(outcome_unknown(session_probe::awaited(std::move(lost)).code));
    ASSERT_TRUE(eventually(
        [&] { return watching.call(request::exists(path)).code == result_code::no_node; }));
    EXPECT_EQ(s.count(kind::expired), 0U) << "nobody can have told it";
    proxy.pass();
    ASSERT_TRUE(s.wait_for(kind::expired));
    EXPECT_EQ(s.call(request::exists(path)).code, result_code::session_expired);
    EXPECT_EQ(s.count(kind::expired), 1U);
}

TEST(ZooKeeperSessionFailover, ConnectsWhileTheServersStart) {
    real_ensemble servers({.servers = 1});
    servers.kill(1);
    session_probe s(servers.connect_string(), milliseconds(6000));
    ASSERT_TRUE(s.wait_for(kind::trouble, 2));
    servers.restart(1);
    ASSERT_TRUE(s.wait_for(kind::connected));
    EXPECT_TRUE(s.call(request::exists("/")).ok());
}

TEST(ZooKeeperSessionFailover, ClosesWithinABoundWhenItsServerHangs) {
    real_ensemble servers({.servers = 1});
    // The C client notices a silent server after two thirds of this.
    session_probe s(servers.connect_string(), milliseconds(60'000));
    ASSERT_TRUE(s.wait_for(kind::connected));
    servers.pause(1);
    auto unanswered = s.submit(request::exists("/"));
    ASSERT_EQ(s.close().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    EXPECT_EQ(session_probe::awaited(std::move(unanswered)).code, result_code::closing);
    servers.resume(1);
}

}  // namespace
}  // namespace latchkey
