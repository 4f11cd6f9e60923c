#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/ensemble_access.hpp"
#include "ensemble/wire/jute.hpp"
#include "ensemble/wire/protocol_connection.hpp"

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
using model::jute_reader;
using model::jute_writer;
using model::opcode;

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
                       const std::string& password = std::string(16, '\0'),
                       bool read_only_byte = true) {
        jute_writer out;
        out.number(0).long_number(0).number(10'000).long_number(session).text(password);
        if (read_only_byte) {
            out.flag(false);
        }
        return say(out.take());
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

    static jute_writer request(std::int32_t xid, opcode what) {
        jute_writer out;
        out.number(xid).number(static_cast<std::int32_t>(what));
        return out;
    }

    static std::string create(std::int32_t xid,
                              const std::string& path,
                              const std::string& data = {},
                              opcode what = opcode::create,
                              std::int32_t flags = 0) {
        jute_writer out = request(xid, what);
        out.text(path).text(data);
        out.number(1).number(31).text("world").text("anyone");
        return out.number(flags).take();
    }

    static std::string read(std::int32_t xid, opcode what, const std::string& path, bool watch) {
        return request(xid, what).text(path).flag(watch).take();
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
        wire_client& made = clients_.emplace_back(ensemble_);
        made.greet();
        EXPECT_NE(made.session(), 0);
        return made;
    }

    ensemble ensemble_{small_and_stepped()};
    std::deque<wire_client> clients_;
};

using ProtocolRequests = ProtocolConnection;

}  // namespace latchkey::test
