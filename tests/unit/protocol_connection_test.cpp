#include "wire_client.hpp"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>

// What comes over the wire, byte by byte. The C client, Curator and kazoo talk to the same code
// elsewhere, but never send garbage.

namespace latchkey::test {
namespace {

using ::testing::HasSubstr;

TEST_F(ProtocolConnection, BytesMayComeOneByOne) {
    wire_client& c = stranger();
    for (const char byte : connect_frame(0, "", 0) + wire_client::create(1, "/a")) {
        c.say({&byte, 1});
    }
    EXPECT_NE(c.session(), 0);
    EXPECT_EQ(c.next().code, 0);
}

TEST_F(ProtocolConnection, GivesTheReadOnlyByteOnlyToClientsThatSendIt) {
    wire_client& modern = client();
    EXPECT_EQ(modern.left_, 1U);
    wire_client& old = stranger();
    std::string hello = connect_frame(0, "", 0);
    hello[3] = static_cast<char>(hello[3] - 1);
    old.say(hello.substr(0, hello.size() - 1));
    EXPECT_NE(old.session(), 0);
    EXPECT_EQ(old.left_, 0U);
}

TEST_F(ProtocolConnection, HangsUpAtLengthsThatNoFrameHas) {
    for (const std::int32_t length : {-1, INT32_MIN, INT32_MAX, 2001, 0x47455420}) {
        wire_client& fresh = stranger();
        const std::string frame = jute_writer().number(length).take().substr(4);
        EXPECT_TRUE(fresh.say(frame).ended()) << length;
        EXPECT_TRUE(client().say(frame).ended()) << length;
    }
}

TEST_F(ProtocolConnection, ServesARequestOfTheLimitAndHangsUpAboveIt) {
    const std::size_t rest = wire_client::create(1, "/a").size() - 4;
    wire_client& c = client();
    c.say(wire_client::create(1, "/a", std::string(2000 - rest, 'x')));
    EXPECT_EQ(c.next().code, 0);
    EXPECT_TRUE(c.say(wire_client::create(2, "/b", std::string(2001 - rest, 'x'))).ended());
    EXPECT_FALSE(ensemble_.exists("/b"));
}

TEST_F(ProtocolConnection, HangsUpAtARequestWithoutAHeader) {
    EXPECT_TRUE(client().say(jute_writer().number(1).take()).ended());
    EXPECT_TRUE(stranger().say(jute_writer().number(0).take()).ended());
}

TEST_F(ProtocolConnection, ASessionComesBackWithItsPasswordAndNotWithAnother) {
    wire_client& c = stranger();
    c.greet();
    const std::int64_t id = c.session();
    c.say(wire_client::create(1, "/e", "", opcode::create2, 1) +
          wire_client::read(2, opcode::get_data, "/", true));
    EXPECT_EQ(c.next().code, 0);
    EXPECT_EQ(c.next().code, 0);
    EXPECT_EQ(ensemble_.open_watches(), 1U);
    c.drop();
    wire_client& thief = stranger();
    thief.greet(id, std::string(16, 'x'));
    EXPECT_EQ(thief.session(), 0);
    EXPECT_EQ(thief.timeout_, 0);
    EXPECT_TRUE(thief.ended());
    EXPECT_EQ(ensemble_.open_watches(), 0U) << "they went with the connection";
    wire_client& back = stranger();
    back.greet(id, c.password_);
    EXPECT_EQ(back.session(), id);
    EXPECT_TRUE(ensemble_.exists("/e"));
}

TEST_F(ProtocolConnection, TheEndOfASessionIsAnsweredAndItsEphemeralsAreGone) {
    wire_client& c = client();
    c.say(wire_client::create(1, "/e", "", opcode::create, 1) +
          header_of(2, opcode::close_session).take());
    EXPECT_EQ(c.next().code, 0);
    EXPECT_EQ(c.next().xid, 2);
    EXPECT_TRUE(c.ended());
    EXPECT_FALSE(ensemble_.exists("/e"));
}

TEST_F(ProtocolConnection, AnswersFourLetterWords) {
    const auto ask = [&](const std::string& word) {
        wire_client& c = stranger();
        EXPECT_TRUE(c.say(word).ended());
        return c.received_;
    };
    EXPECT_EQ(ask("ruok"), "imok");
    EXPECT_EQ(ask("isro"), "rw");
    EXPECT_THAT(ask("srvr"), HasSubstr("\nMode: "));
    EXPECT_THAT(ask("stat"), HasSubstr("Clients:"));
    ensemble_.stop_server(0);
    EXPECT_EQ(ask("ruok"), "");
}

TEST_F(ProtocolConnection, ReadsNoMoreWhileTooMuchIsUnansweredOrUnsent) {
    wire_client& c = client();
    std::string many;
    for (std::int32_t i = 0; i < 2500; ++i) {
        many += wire_client::read(i, opcode::exists, "/", false);
    }
    c.say(many);
    EXPECT_TRUE(c.saturated());
    for (std::int32_t i = 0; i < 2500; ++i) {
        ASSERT_EQ(c.next().xid, i);
    }
    EXPECT_FALSE(c.saturated());
    c.unsent_ = std::size_t{2} << 20U;
    c.say(wire_client::read(1, opcode::exists, "/", false));
    ensemble_.run_for(1s);
    EXPECT_EQ(c.received_, "");
    c.drained();
    EXPECT_EQ(c.next().xid, 1);
}

TEST_F(ProtocolConnection, CutBreaksTheConnection) {
    wire_client& c = client();
    ensemble_.cut(ensemble_.sessions().front().id);
    EXPECT_TRUE(c.ended());
}

}  // namespace
}  // namespace latchkey::test
