#pragma once

#include <latchkey/ensemble.hpp>

#include "in_process_contract.hpp"
#include "number_from.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;
using ensemble = latchkey::testing::ensemble;
using operation = ensemble::request_kind;
using when = ensemble::when;

inline ensemble::options stepped_options(std::uint64_t seed = number_from("LATCHKEY_SEED", 1)) {
    ensemble::options how;
    how.mode = ensemble::mode::stepped;
    how.seed = seed;
    return how;
}

inline request create(const std::string& path, create_mode mode = plain) {
    return request::create(path, {}, mode, open_unsafe_acl());
}

/// A stepped ensemble, and sessions at servers of one's choice.
class Ensemble : public ::testing::Test {
protected:
    void start(const ensemble::options& how = stepped_options()) {
        all_ = std::make_unique<in_process>(how);
    }

    [[nodiscard]] ensemble& servers() { return all_->servers(); }

    /// A session at one server.
    std::unique_ptr<subject> connect(int server) {
        auto s = std::make_unique<subject>(*all_);
        EXPECT_TRUE(s->wait_connected());
        move(*s, server);
        return s;
    }

    void move(subject& s, int server) {
        if (server_of(s) != server) {
            const std::size_t connections = s.count("connected");
            servers().move(s.id(), server);
            EXPECT_TRUE(s.wait_for("connected", connections + 1));
        }
        EXPECT_EQ(server_of(s), server);
    }

    int server_of(const subject& s) {
        for (const ensemble::session_info& info : servers().sessions()) {
            if (info.id == s.id()) {
                return info.server;
            }
        }
        return -1;
    }

    bool alive(const subject& s) {
        for (const ensemble::session_info& info : servers().sessions()) {
            if (info.id == s.id()) {
                return info.alive;
            }
        }
        return false;
    }

    [[nodiscard]] int follower(int skip = 0) {
        for (int i = 0;; ++i) {
            if (i != servers().leader() && skip-- == 0) {
                return i;
            }
        }
    }

    /// How long until `done`.
    ensemble::duration time_until(const std::function<bool()>& done) {
        const ensemble::duration start = servers().now();
        EXPECT_TRUE(servers().run_until(done, 10min));
        return servers().now() - start;
    }

    std::unique_ptr<in_process> all_;
};

}  // namespace latchkey::test
