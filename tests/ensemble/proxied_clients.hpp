#pragma once

#include <latchkey/mutex.hpp>

#include "client/blocking_read.hpp"
#include "eventually.hpp"
#include "fault_proxy.hpp"
#include "real_ensemble.hpp"
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

    ProxiedClients() {
        const real_ensemble& servers = real_ensemble::shared();
        for (int i = 1; i <= servers.size(); ++i) {
            proxies_.push_back(std::make_unique<fault_proxy>(servers.address(i)));
        }
    }

    /// Through the proxies, and connected.
    client connect(std::chrono::milliseconds session_timeout,
                   std::chrono::milliseconds close_timeout = 20s) {
        std::string list;
        for (const auto& proxy : proxies_) {
            list += (list.empty() ? "" : ",") + proxy->address();
        }
        client c = client::connect(
            list, {.session_timeout = session_timeout, .close_timeout = close_timeout});
        EXPECT_TRUE(c.wait_connected(30s));
        return c;
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

    /// Of all proxies.
    [[nodiscard]] std::size_t lost() const {
        std::size_t sum = 0;
        for (const auto& proxy : proxies_) {
            sum += proxy->counted().lost();
        }
        return sum;
    }

    /// Requests that have reached a server.
    [[nodiscard]] std::size_t passed(opcode what) const {
        std::size_t sum = 0;
        for (const auto& proxy : proxies_) {
            sum += proxy->counted().requests[what];
        }
        return sum;
    }

    /// The data's version, or nothing without the znode.
    [[nodiscard]] std::optional<std::int32_t> version_of(const std::string& path) {
        catch_up(operator_);
        const reply r = blocking_read(*client_core::of(operator_), request::get(path));
        return r.ok() ? std::optional(r.stat.version) : std::nullopt;
    }

    /// One znode is in the queue, it is the hold's, and the session is the client's. It may take a
    /// moment: a create of an earlier attempt may come late, and is deleted.
    void expect_sole_holder(const hold& h, const client& by) {
        EXPECT_TRUE(h.valid()) << to_string(h.why_lost());
        ASSERT_TRUE(eventually([&] { return world_->children(path_).size() == 1; }));
        catch_up(operator_);
        const auto holder = theirs_.holder();
        ASSERT_TRUE(holder);
        EXPECT_EQ(path_ + "/" + holder->name, h.path());
        EXPECT_EQ(holder->czxid, h.token().zxid);
        EXPECT_EQ(holder->session_id, by.session_id());
    }

    void expect_nothing_left() {
        EXPECT_TRUE(eventually([&] { return world_->children(path_).empty(); }));
    }

    std::unique_ptr<world> world_ = make_world(world_kind::real);
    const std::string path_ = world_->fresh_path();
    std::vector<std::unique_ptr<fault_proxy>> proxies_;
    client operator_ = world_->connect();
    mutex theirs_{operator_, path_};
};

}  // namespace latchkey::test
