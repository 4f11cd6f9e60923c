#pragma once

#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>

#include "eventually.hpp"
#include "test_authority.hpp"
#include "tls_front.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {

/// An in-process ensemble of one server, reached through a front that speaks TLS.
class tls_fixture : public ::testing::Test {
protected:
    static latchkey::testing::ensemble::options one_server() {
        latchkey::testing::ensemble::options how;
        how.servers = 1;
        how.one_way = std::chrono::nanoseconds(0);
        return how;
    }

    /// What a client with the right files asks for.
    [[nodiscard]] client_options trusting() const {
        client_options how;
        how.session_timeout = std::chrono::seconds(10);
        how.tls = tls_options{.ca_file = folder_.write("ca.pem", authority_.certificate())};
        // The ensemble behind the front knows no certificates.
        how.access = open_unsafe_acl();
        return how;
    }

    /// The same with a certificate of the client's.
    [[nodiscard]] client_options certified(const test_certificate& own) const {
        client_options how = trusting();
        how.tls->certificate_file = folder_.write("client.pem", own.certificate);
        how.tls->key_file = folder_.write("client.key", own.key);
        return how;
    }

    tls_front& begin_front(const tls_front::options& how) {
        front_.emplace(behind_, how);
        return *front_;
    }

    tls_front& begin_front() { return begin_front({.own = authority_.issue()}); }

    /// What a client says that cannot connect. On a slow machine the first attempts may be too
    /// short for an answer.
    [[nodiscard]] std::string refusal(const std::string& server, const client_options& how) {
        const client c = client::connect(server, how);
        std::string why;
        EXPECT_TRUE(eventually([&] {
            why = c.last_error();
            return (!why.empty() && why.find(": no answer") == std::string::npos) ||
                   c.state() == connection_state::connected;
        })) << why;
        EXPECT_NE(c.state(), connection_state::connected);
        return why;
    }

    /// No byte of it comes out of TLS.
    [[nodiscard]] std::string refusal(const client_options& how) {
        auto why = refusal(front_->address(), how);
        EXPECT_EQ(front_->from_clients(), 0U);
        return why;
    }

    [[nodiscard]] static bool connects(const client& c) {
        return eventually([&] { return c.state() == connection_state::connected; });
    }

    [[nodiscard]] bool connects(const std::string& server, const client_options& how) {
        const client c = client::connect(server, how);
        return connects(c) || (ADD_FAILURE() << c.last_error(), false);
    }

    latchkey::testing::ensemble ensemble_{one_server()};
    std::string behind_ = ensemble_.serve();
    test_authority authority_;
    test_folder folder_;
    std::optional<tls_front> front_;
};

}  // namespace latchkey::test
