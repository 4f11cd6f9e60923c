#pragma once

#include <latchkey/mutex.hpp>

#include "client/blocking_read.hpp"
#include "eventually.hpp"
#include "fault_proxy.hpp"
#include "real_ensemble.hpp"
#include "server_proxies.hpp"
#include "world.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;

/// Real servers, each behind a proxy, and an operator who goes past the proxies.
class ProxiedClients : public ::testing::Test {
protected:
    using part = fault_proxy::part;
    using then = fault_proxy::then;
    using direction = tcp_proxy::direction;

    /// Makes the test's client, through the proxies, and its mutex.
    void connect(std::chrono::milliseconds session_timeout,
                 std::chrono::milliseconds close_timeout = 20s) {
        client_ =
            client::connect(proxies_.addresses(),
                            {.session_timeout = session_timeout, .close_timeout = close_timeout});
        ASSERT_TRUE(client_->wait_connected(30s));
        mutex_.emplace(*client_, path_);
    }

    /// With a znode to write to.
    [[nodiscard]] hold holder_with_a_target() {
        world_->create(target_);
        return mutex_->acquire();
    }

    /// Where the only client is connected.
    fault_proxy& present() {
        fault_proxy* found = nullptr;
        EXPECT_TRUE(eventually([&] {
            for (const auto& proxy : proxies_) {
                found = proxy->open() == 1 ? proxy.get() : found;
            }
            return found != nullptr;
        }));
        return *found;
    }

    template <class Count>
    [[nodiscard]] auto sum_of(Count count) const {
        decltype(count(**proxies_.begin())) sum = 0;
        for (const auto& proxy : proxies_) {
            sum += count(*proxy);
        }
        return sum;
    }

    [[nodiscard]] std::size_t lost() const {
        return sum_of([](const fault_proxy& p) { return p.counted().lost(); });
    }

    /// Requests that have reached a server.
    [[nodiscard]] std::size_t passed(opcode what) const {
        return sum_of([what](const fault_proxy& p) { return p.counted().requests[what]; });
    }

    /// The data's version, or nothing without the znode.
    [[nodiscard]] std::optional<std::int32_t> version_of(const std::string& path) {
        const auto found = operator_.get(path, read_from::quorum);
        return found ? std::optional(found->stat.version) : std::nullopt;
    }

    /// One znode is in the queue, it is the hold's, and the session is the client's. It may take a
    /// moment: a create of an earlier attempt may come late, and is deleted.
    void expect_sole_holder(const hold& h) {
        EXPECT_TRUE(h.valid()) << to_string(h.why_lost());
        ASSERT_TRUE(eventually([&] { return world_->children(path_).size() == 1; }));
        catch_up(operator_);
        const auto holder = theirs_.holder();
        ASSERT_TRUE(holder);
        EXPECT_EQ(path_ + "/" + holder->name, h.path());
        EXPECT_EQ(holder->czxid, h.token().zxid);
        EXPECT_EQ(holder->session_id, client_->session_id());
    }

    void expect_nothing_left() {
        EXPECT_TRUE(eventually([&] { return world_->children(path_).empty(); }));
    }

    void expect_released(hold h) {
        EXPECT_TRUE(h.release_and_wait());
        expect_nothing_left();
    }

    /// What a write under a hold's guard is to the servers.
    const fault_proxy::selection a_guarded_set{.operation = opcode::multi,
                                               .parts = {opcode::check, opcode::set_data}};
    std::unique_ptr<world> world_ = make_world(world_kind::real);
    const std::string path_ = world_->fresh_path();
    const std::string target_ = path_ + "-target";
    server_proxies<fault_proxy> proxies_{real_ensemble::shared()};
    client operator_ = world_->connect();
    mutex theirs_{operator_, path_};
    std::optional<client> client_;
    std::optional<mutex> mutex_;
};

}  // namespace latchkey::test
