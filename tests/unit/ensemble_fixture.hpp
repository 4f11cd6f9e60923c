#pragma once

#include <latchkey/ensemble.hpp>

#include "in_process_contract.hpp"
#include "number_from.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
    /// In place of the usual servers.
    void start(const ensemble::options& how) { all_ = std::make_unique<in_process>(how); }

    [[nodiscard]] in_process& all() {
        if (all_ == nullptr) {
            start(stepped_options());
        }
        return *all_;
    }

    [[nodiscard]] ensemble& servers() { return all().servers(); }

    /// A session at one server.
    std::unique_ptr<subject> connect(int server) {
        auto s = connect();
        move(*s, server);
        return s;
    }

    /// At a server that takes it.
    std::unique_ptr<subject> connect() {
        auto s = std::make_unique<subject>(all());
        EXPECT_TRUE(s->wait_connected());
        return s;
    }

    /// The requests go out together.
    static void send(subject& s, const std::vector<std::pair<const char*, request>>& requests) {
        s.on_loop([&] {
            for (const auto& [label, r] : requests) {
                s.send(label, r);
            }
        });
    }

    /// Cuts off the leader, until the others have elected another. Returns it.
    int depose_leader() {
        const int deposed = servers().leader();
        servers().isolate(deposed);
        EXPECT_TRUE(servers().run_until([&] { return servers().leader() != deposed; }, 1min));
        return deposed;
    }

    void move(subject& s, int server) {
        if (server_of(s) != server) {
            const std::size_t connections = s.count("connected");
            servers().move(s.id(), server);
            EXPECT_TRUE(s.wait_for("connected", connections + 1));
        }
        EXPECT_EQ(server_of(s), server);
    }

    int server_of(const subject& s) { return info_of(s).server; }

    bool alive(const subject& s) { return info_of(s).alive; }

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

private:
    ensemble::session_info info_of(const subject& s) {
        const auto sessions = servers().sessions();
        const auto found = std::find_if(
            sessions.begin(), sessions.end(), [&](const auto& i) { return i.id == s.id(); });
        return found == sessions.end() ? ensemble::session_info() : *found;
    }

    std::unique_ptr<in_process> all_;
};

}  // namespace latchkey::test
