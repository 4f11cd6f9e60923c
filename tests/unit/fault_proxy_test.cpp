#include "fault_proxy.hpp"

#include "eventually.hpp"
#include "proxy_fixture.hpp"
#include "wire_frames.hpp"

#include <chrono>
#include <string>

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using lost = fault_proxy::part;
using then = fault_proxy::then;
using boost::asio::error::eof;

std::string get(std::int32_t xid) {
    return header_of(xid, opcode::get_data).text("/a").flag(false).take();
}

std::string create(std::int32_t xid) {
    return header_of(xid, opcode::create2).text("/b").text("").number(0).number(0).take();
}

std::string multi(std::int32_t xid, const request& only) {
    return transaction(header_of(xid, opcode::multi), {only}).take();
}

class FaultProxy : public ProxyTest<fault_proxy> {
protected:
    void shake_hands(std::int64_t session = 0x77) {
        client_ = connect();
        server_ = listener_.accept();
        up(connect_frame());
        down(connected_frame(session));
    }

    [[nodiscard]] fault_proxy::counts counted() const { return proxy_.counted(); }
};

TEST_F(FaultProxy, PassesFramesAndCountsThemByWhatWasAsked) {
    shake_hands();
    up(get(1) + get(2) + create(3));
    down(reply_frame(1) + event_frame("/a") + reply_frame(2));
    auto c = counted();
    EXPECT_EQ(c.requests[opcode::connect], 1U);
    EXPECT_EQ(c.requests[opcode::get_data], 2U);
    EXPECT_EQ(c.requests[opcode::create2], 1U);
    EXPECT_EQ(c.replies[opcode::connect], 1U);
    EXPECT_EQ(c.replies[opcode::get_data], 2U);
    EXPECT_EQ(c.replies[opcode::create2], 0U);
    EXPECT_EQ(c.events, 1U);
    EXPECT_EQ(c.lost(), 0U);
}

TEST_F(FaultProxy, PassesAFrameWhenItIsWhole) {
    shake_hands();
    const std::string frame = get(1);
    send(*client_, frame.substr(0, 9));
    EXPECT_TRUE(silent(*server_));
    up(frame.substr(9), frame);
}

TEST_F(FaultProxy, PassesWhatIsNoFrame) {
    client_ = connect();
    server_ = listener_.accept();
    up("srvr");
    down("Zookeeper version: a few lines");
    send(*server_, "im");
    server_->close();
    EXPECT_EQ(receive(*client_, 2), "im");
    EXPECT_EQ(end_of(*client_), eof);
    shake_hands();
    send(*server_, reply_frame(1).substr(0, 6));
    server_->close();
    EXPECT_EQ(receive(*client_, 6), reply_frame(1).substr(0, 6)) << "also the last bytes";
    EXPECT_EQ(end_of(*client_), eof);
}

TEST_F(FaultProxy, LosesARequestAndWhatIsBehindItThenCuts) {
    shake_hands();
    proxy_.lose(lost::request, then::cut, {.operation = opcode::create2});
    up(get(1) + create(2) + get(3), get(1));
    EXPECT_EQ(end_of(*server_), eof);
    EXPECT_EQ(end_of(*client_), eof);
    EXPECT_EQ(counted().lost_requests[opcode::create2], 1U);
    EXPECT_EQ(counted().requests[opcode::create2], 0U);
    shake_hands();
    up(create(1));  // once only
}

TEST_F(FaultProxy, LosesARequestInSilence) {
    shake_hands();
    proxy_.lose(lost::request, then::silence, {.operation = opcode::create2});
    up(create(1) + get(2), "");
    EXPECT_TRUE(silent(*server_));
    down(event_frame("/a"));  // the other direction goes on
    shake_hands();            // and so does another connection
    up(get(1));
}

TEST_F(FaultProxy, LosesTheReplyToAnAppliedRequestThenCuts) {
    shake_hands();
    proxy_.lose(lost::reply, then::cut, {.operation = opcode::create2});
    up(get(1) + create(2));
    down(reply_frame(1) + reply_frame(2) + reply_frame(3), reply_frame(1));
    EXPECT_EQ(end_of(*client_), eof);
    EXPECT_EQ(counted().lost_replies[opcode::create2], 1U);
    EXPECT_EQ(counted().requests[opcode::create2], 1U);
}

TEST_F(FaultProxy, LosesAReplyInSilenceAndTheEndOfTheConnectionWithIt) {
    shake_hands();
    proxy_.lose(lost::reply, then::silence, {.operation = opcode::get_data});
    up(get(1));
    send(*server_, reply_frame(1));
    EXPECT_TRUE(eventually([&] { return counted().lost() == 1; }));
    server_->shutdown(tcp::socket::shutdown_send);
    EXPECT_TRUE(silent(*client_));
    up(create(2));
}

TEST_F(FaultProxy, LosesAReplyAndGoesOn) {
    shake_hands();
    proxy_.lose(lost::reply, then::go_on, {.operation = opcode::get_data});
    up(get(1) + get(2));
    down(reply_frame(1) + reply_frame(2), reply_frame(2));
}

TEST_F(FaultProxy, LosesOnlyWhatIsSelected) {
    shake_hands();
    proxy_.lose(
        lost::request, then::go_on, {.operation = opcode::get_data, .after = 2, .times = 2});
    up(get(1) + get(2) + get(3) + get(4) + get(5), get(1) + get(2) + get(5));
    proxy_.lose(lost::request, then::go_on, {.operation = opcode::multi, .parts = {opcode::check}});
    const std::string remove = multi(1, request::remove("/a"));
    const std::string check = multi(2, request::check("/a"));
    up(remove + check + check, remove + check);
    proxy_.lose(lost::request, then::cut, {.operation = opcode::get_data});
    proxy_.lose_nothing();
    proxy_.lose(lost::request, then::go_on, {.operation = opcode::get_data, .session = 5});
    up(get(1));
    shake_hands(5);
    up(get(1) + get(2), get(2));
}

TEST_F(FaultProxy, LosesTheHandshakeOfASession) {
    proxy_.lose(lost::reply, then::cut, {.operation = opcode::connect});
    client_ = connect();
    server_ = listener_.accept();
    up(connect_frame());
    send(*server_, connected_frame(1));
    EXPECT_EQ(end_of(*client_), eof);
    EXPECT_EQ(counted().lost_replies[opcode::connect], 1U);
}

TEST_F(FaultProxy, DelaysEventsAndWhatIsBehindThemAndNothingElse) {
    shake_hands();
    proxy_.delay_events(120ms);
    up(get(1));
    const auto start = std::chrono::steady_clock::now();
    send(*server_, event_frame("/a") + reply_frame(1));
    up(get(2));
    EXPECT_EQ(receive(*client_, event_frame("/a").size()), event_frame("/a"));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 120ms);
    EXPECT_EQ(receive(*client_, reply_frame(1).size()), reply_frame(1));
}

TEST_F(FaultProxy, BreaksBytesAsAnyProxyDoes) {
    shake_hands();
    proxy_.cut_after(5, fault_proxy::direction::to_client, fault_proxy::ending::fin);
    up(get(1));
    down(reply_frame(1), reply_frame(1).substr(0, 5));
    EXPECT_EQ(end_of(*client_), eof);
}

}  // namespace
}  // namespace latchkey::test
