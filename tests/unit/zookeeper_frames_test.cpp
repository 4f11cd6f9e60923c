#include "zookeeper_frames.hpp"

#include "wire_frames.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using kind = zookeeper_frame::kind;
using ::testing::ElementsAre;

std::string multi_frame() {
    return transaction(header_of(9, opcode::multi),
                       {request::check("/own"),
                        request::create("/new", "data", create_mode::persistent, open_unsafe_acl()),
                        request::set("/old", "x", 3),
                        request::remove("/old", 4)})
        .take();
}

/// A conversation after both have said hello.
class Conversation : public ::testing::Test {
protected:
    Conversation() {
        EXPECT_EQ(talk_.from_client(connect_frame()).what, kind::connect);
        EXPECT_EQ(talk_.from_server(connected_frame(0x1234)).what, kind::connected);
    }

    zookeeper_conversation talk_;
};

TEST(FrameStream, FindsTheSameFramesHoweverTheBytesArrive) {
    const std::vector<std::string> frames{connect_frame(), multi_frame(), reply_frame(1)};
    const std::string bytes = frames[0] + frames[1] + frames[2];
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
        frame_stream stream;
        std::vector<std::string> found;
        for (std::size_t at = 0; at < bytes.size(); at += step) {
            stream.feed(std::string_view(bytes).substr(at, step));
            while (auto frame = stream.next()) {
                found.push_back(*std::move(frame));
            }
        }
        EXPECT_EQ(found, frames) << "in steps of " << step;
        EXPECT_FALSE(stream.broken());
    }
}

TEST(FrameStream, KeepsWhatIsNotAWholeFrame) {
    frame_stream stream;
    const std::string frame = reply_frame(1);
    stream.feed(frame + frame.substr(0, 7));
    EXPECT_EQ(stream.next(), frame);
    EXPECT_EQ(stream.next(), std::nullopt);
    EXPECT_EQ(stream.rest(), frame.substr(0, 7));
    EXPECT_EQ(stream.rest(), "");
}

TEST(FrameStream, IsBrokenByALengthThatNoFrameHasAndByNoLongOne) {
    for (const std::string& bytes :
         {std::string("srvr"), std::string("\xff\xff\xff\xfezzzz"), std::string("\1\0\0\0", 4)}) {
        frame_stream stream;
        stream.feed(bytes);
        EXPECT_EQ(stream.next(), std::nullopt);
        EXPECT_EQ(stream.broken(), bytes[0] != 1) << "16 MiB are allowed";
        EXPECT_EQ(stream.rest(), bytes);
    }
}

TEST(ConversationBegin, IsASessionUnlessTheServerRefusesOne) {
    for (const std::int32_t timeout : {6000, 0}) {
        zookeeper_conversation talk;
        const auto asked = talk.from_client(connect_frame(5));
        EXPECT_EQ(asked.what, kind::connect);
        EXPECT_EQ(asked.session, 5);
        EXPECT_EQ(asked.zxid, 77);
        EXPECT_EQ(talk.session(), 0);
        const auto answered = talk.from_server(connected_frame(5, timeout));
        EXPECT_EQ(answered.what, kind::connected);
        EXPECT_EQ(answered.session, timeout > 0 ? 5 : 0);
        EXPECT_EQ(talk.session(), answered.session);
    }
}

TEST_F(Conversation, NamesWhatIsAskedAndItsPath) {
    for (const opcode what : {opcode::create,
                              opcode::create2,
                              opcode::create_container,
                              opcode::remove,
                              opcode::get_data,
                              opcode::get_children,
                              opcode::sync}) {
        const auto frame = talk_.from_client(header_of(3, what).text("/a/b").number(0).take());
        EXPECT_EQ(frame.what, kind::request);
        EXPECT_EQ(frame.operation, what);
        EXPECT_EQ(frame.xid, 3);
        EXPECT_EQ(frame.path, "/a/b");
    }
    EXPECT_EQ(talk_.from_client(header_of(4, opcode::close_session).take()).operation,
              opcode::close_session);
}

TEST_F(Conversation, NamesThePartsOfAMulti) {
    const auto frame = talk_.from_client(multi_frame());
    EXPECT_EQ(frame.operation, opcode::multi);
    EXPECT_THAT(frame.parts,
                ElementsAre(opcode::check, opcode::create, opcode::set_data, opcode::remove));
}

TEST_F(Conversation, NamesWhatIsAnswered) {
    static_cast<void>(talk_.from_client(header_of(1, opcode::sync).text("/").take()));
    static_cast<void>(talk_.from_client(header_of(2, opcode::get_data).text("/").take()));
    static_cast<void>(talk_.from_client(header_of(-2, opcode::ping).take()));
    EXPECT_EQ(talk_.from_server(reply_frame(1)).operation, opcode::sync);
    EXPECT_EQ(talk_.from_server(reply_frame(-2)).operation, opcode::ping);
    const auto refused = talk_.from_server(reply_frame(2, -101));
    EXPECT_EQ(refused.operation, opcode::get_data);
    EXPECT_EQ(refused.error, -101);
    EXPECT_EQ(refused.zxid, 4711);
    EXPECT_EQ(talk_.from_server(reply_frame(2)).operation, opcode::none) << "answered already";
}

TEST_F(Conversation, KnowsEventsFromReplies) {
    const auto event = talk_.from_server(event_frame("/gone"));
    EXPECT_EQ(event.what, kind::event);
    EXPECT_EQ(event.path, "/gone");
}

TEST_F(Conversation, CallsEveryFrameThatEndsTooSoonMalformed) {
    const auto cut = [](const std::string& frame, std::size_t body) {
        return jute_writer().text(frame.substr(4, body)).take().substr(4);
    };
    const std::string multi = multi_frame();
    const std::string reply = reply_frame(9);
    for (std::size_t body = 0; body + 4 < multi.size(); ++body) {
        EXPECT_EQ(talk_.from_client(cut(multi, body)).what, kind::malformed) << body;
    }
    for (std::size_t body = 0; body + 4 < reply.size(); ++body) {
        EXPECT_EQ(talk_.from_server(cut(reply, body)).what, kind::malformed) << body;
    }
    EXPECT_EQ(talk_.from_client(multi).what, kind::request);
    EXPECT_EQ(talk_.from_server(reply).operation, opcode::multi);
}

TEST_F(Conversation, EndsOnAnyBytes) {
    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int round = 0; round < 2000; ++round) {
        std::string frame = multi_frame();
        for (int i = 0; i < 4; ++i) {
            frame[4 + random() % (frame.size() - 4)] = static_cast<char>(random());
        }
        const auto read = talk_.from_client(frame);
        EXPECT_LE(read.parts.size(), frame.size());
        static_cast<void>(talk_.from_server(frame));
    }
}

}  // namespace
}  // namespace latchkey::test
