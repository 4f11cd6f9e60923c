#include "zookeeper/frame_gate.hpp"

#include "wire_frames.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A gate between a server and what would be the C client, which this test plays.
class FrameGate : public ::testing::Test {
protected:
    FrameGate() {
        std::array<int, 2> pair{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
        server_ = pair[0];
        network_ = pair[1];
        client_ = ::fcntl(network_, F_DUPFD_CLOEXEC, 0);
        gate_.emplace(network_, client_, false);
    }

    ~FrameGate() override {
        gate_.reset();
        for (const int each : {server_, network_, client_}) {
            ::close(each);
        }
    }

    static std::string received(int socket) {
        std::string all;
        std::array<char, 4096> some{};
        for (;;) {
            const auto got = ::recv(socket, some.data(), some.size(), MSG_DONTWAIT);
            if (got <= 0) {
                return all;
            }
            all.append(some.data(), static_cast<std::size_t>(got));
        }
    }

    static void send(int socket, std::string_view bytes) {
        EXPECT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }

    /// What the C client gets.
    std::string handed_over() {
        std::string frames;
        bool more = true;
        while (more) {
            more = gate_->read();
            while (const std::size_t checked = gate_->check()) {
                frames_ += checked;
                for (bool whole = false; !whole; frames += received(client_)) {
                    whole = gate_->hand_over();
                }
            }
        }
        return frames;
    }

    std::size_t frames_ = 0;  ///< how many of them

    int server_ = -1;
    int network_ = -1;
    int client_ = -1;
    std::optional<frame_gate> gate_;
};

const std::string remove = header_of(1, opcode::remove).text("/a").number(-1).take();

TEST_F(FrameGate, HandsOverWholeFramesHoweverTheyArrive) {
    const std::string hello = connected_frame(7);
    const std::string event = event_frame("/a");
    for (const char byte : hello) {
        EXPECT_THAT(handed_over(), IsEmpty());
        send(server_, std::string_view(&byte, 1));
    }
    EXPECT_EQ(handed_over(), hello);
    send(server_, event + event + event.substr(0, 6));
    EXPECT_EQ(handed_over(), event + event);
    send(server_, event.substr(6));
    EXPECT_EQ(handed_over(), event);
    EXPECT_EQ(frames_, 4U);
    EXPECT_EQ(gate_->failure(), "");
}

TEST_F(FrameGate, HandsOverNothingOfAWrongFrameAndWhatIsBehindIt) {
    send(server_, connected_frame(7) + reply_frame(1) + event_frame("/a"));
    EXPECT_EQ(handed_over(), connected_frame(7));
    EXPECT_TRUE(gate_->wrong_frame());
    EXPECT_THAT(gate_->failure(), HasSubstr("malformed answer: to request 1"));
    EXPECT_THAT(handed_over(), IsEmpty());
}

TEST_F(FrameGate, HandsOverTheAnswerToTheRequestForASessionAlone) {
    send(server_, connected_frame(7) + event_frame("/a") + event_frame("/b"));
    EXPECT_FALSE(gate_->read());
    for (const std::size_t frames : {1U, 2U, 0U}) {
        EXPECT_EQ(gate_->check(), frames);
        EXPECT_TRUE(gate_->hand_over());
    }
}

TEST_F(FrameGate, RefusesALengthThatNoFrameHas) {
    for (const std::string_view text : {"HTTP/1.1 400", "\xff\xff\xff\xff", "\x04\x01\x01\x01"}) {
        send(server_, text);
        EXPECT_THAT(handed_over(), IsEmpty());
        EXPECT_THAT(gate_->failure(), HasSubstr("malformed answer: a length of"));
        gate_.emplace(network_, client_, false);
    }
}

TEST_F(FrameGate, SendsRequestsTogetherOnceTheyAreWhole) {
    send(client_, remove.substr(0, 4));
    gate_->collect();
    gate_->flush();
    EXPECT_EQ(received(server_), "");
    EXPECT_TRUE(gate_->unsent());
    send(client_, remove.substr(4) + remove);
    gate_->collect();
    EXPECT_EQ(received(server_), "");
    gate_->flush();
    EXPECT_EQ(received(server_), remove + remove);
    EXPECT_FALSE(gate_->unsent());
}

TEST_F(FrameGate, SaysThatTheServerHasClosedTheConnection) {
    send(server_, connected_frame(7));
    ::shutdown(server_, SHUT_RDWR);
    EXPECT_EQ(handed_over(), connected_frame(7));
    EXPECT_FALSE(gate_->read());
    EXPECT_EQ(gate_->failure(), "the server closed the connection");
    EXPECT_FALSE(gate_->wrong_frame());
}

}  // namespace
}  // namespace latchkey::test
