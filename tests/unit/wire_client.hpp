#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/ensemble_access.hpp"
#include "ensemble/wire/protocol_connection.hpp"
#include "wire_frames.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;
using latchkey::testing::ensemble;
using latchkey::testing::ensemble_access;

/// It hangs up at frames of more than 2000 bytes.
inline ensemble::options small_and_stepped() {
    ensemble::options how;
    how.mode = ensemble::mode::stepped;
    how.max_request = 2000;
    return how;
}

/// An answer, with its header taken off.
struct answer {
    std::int32_t xid = 0;
    std::int64_t zxid = 0;
    std::int32_t code = 0;
    std::string body;
};

/// A client that sends bytes to server 0 and keeps what comes back.
class wire_client final : public model::protocol_connection::transport {
public:
    explicit wire_client(ensemble& e)
        : ensemble_(e),
          connection_(std::make_unique<model::protocol_connection>(
              shared_cluster(e),
              ensemble_access::cluster_of(e).make_process(),
              0,
              "127.0.0.1",
              *this)) {}

    void send(std::string bytes) override { received_ += bytes; }

    void hang_up() override { hung_up_ = true; }

    [[nodiscard]] std::size_t unsent() const override { return unsent_; }

    void read_on() override {}

    wire_client& say(std::string_view bytes) {
        connection_->receive(bytes);
        return *this;
    }

    wire_client& greet(std::int64_t session = 0,
                       const std::string& password = std::string(16, '\0')) {
        return say(connect_frame(session, password, 0));
    }

    /// The next whole frame, without its length; it comes soon.
    std::string frame() {
        const auto whole = [this] {
            jute_reader in(received_);
            const auto size = static_cast<std::size_t>(in.number());
            return in.good() && in.left() >= size;
        };
        if (!ensemble_.run_until(whole, 1s)) {
            ADD_FAILURE() << "no frame";
            return {};
        }
        const auto size = static_cast<std::size_t>(jute_reader(received_).number());
        std::string result = received_.substr(4, size);
        received_.erase(0, 4 + size);
        return result;
    }

    answer next() {
        const std::string whole = frame();
        jute_reader in(whole);
        answer a;
        a.xid = in.number();
        a.zxid = in.long_number();
        a.code = in.number();
        a.body = in.bytes(in.left());
        return a;
    }

    /// The session that the servers gave.
    std::int64_t session() {
        const std::string whole = frame();
        jute_reader in(whole);
        in.number();
        timeout_ = in.number();
        const std::int64_t id = in.long_number();
        password_ = in.text();
        left_ = in.left();
        return id;
    }

    [[nodiscard]] bool ended() {
        ensemble_.run_for(10ms);
        return hung_up_;
    }

    /// Sends a request, and returns the answer.
    answer ask(jute_writer request) {
        say(request.take());
        return next();
    }

    static std::string create(std::int32_t xid,
                              const std::string& path,
                              const std::string& data = {},
                              opcode what = opcode::create,
                              std::int32_t flags = 0) {
        jute_writer out = header_of(xid, what);
        return put_create(out, path, data, flags).take();
    }

    static std::string read(std::int32_t xid, opcode what, const std::string& path, bool watch) {
        return header_of(xid, what).text(path).flag(watch).take();
    }

    [[nodiscard]] bool saturated() const { return connection_->saturated(); }

    void drained() {
        unsent_ = 0;
        connection_->proceed();
    }

    void drop() { connection_ = nullptr; }

    std::size_t unsent_ = 0;
    std::string received_;
    std::string password_;
    std::int32_t timeout_ = 0;
    std::size_t left_ = 0;  ///< of the first frame, behind the password

private:
    static std::shared_ptr<model::cluster> shared_cluster(ensemble& e) {
        return {std::shared_ptr<void>(), &ensemble_access::cluster_of(e)};
    }

    ensemble& ensemble_;
    std::unique_ptr<model::protocol_connection> connection_;
    bool hung_up_ = false;
};

class ProtocolConnection : public ::testing::Test {
protected:
    ProtocolConnection() { ensemble_.run_for(1s); }

    /// Connected.
    wire_client& client() {
        wire_client& made = stranger();
        made.greet();
        EXPECT_NE(made.session(), 0);
        return made;
    }

    /// One that has said nothing yet.
    wire_client& stranger() { return clients_.emplace_back(ensemble_); }

    ensemble ensemble_{small_and_stepped()};
    std::deque<wire_client> clients_;
};

using ProtocolRequests = ProtocolConnection;

}  // namespace latchkey::test
