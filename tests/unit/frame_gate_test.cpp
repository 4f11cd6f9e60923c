#include "zookeeper/frame_gate.hpp"

#include "wire_frames.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

    /// What the C client gets, frame by frame.
    std::vector<std::string> handed_over() {
        std::vector<std::string> frames;
        bool more = true;
        while (more) {
            more = gate_->read();
            while (gate_->next_frame()) {
                std::string& frame = frames.emplace_back();
                for (bool whole = false; !whole; frame += received(client_)) {
                    whole = gate_->hand_over();
                }
            }
        }
        return frames;
    }

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
        EXPECT_THAT(handed_over(), ElementsAre());
        send(server_, std::string_view(&byte, 1));
    }
    EXPECT_THAT(handed_over(), ElementsAre(hello));
    send(server_, event + event + event.substr(0, 6));
    EXPECT_THAT(handed_over(), ElementsAre(event, event));
    send(server_, event.substr(6));
    EXPECT_THAT(handed_over(), ElementsAre(event));
    EXPECT_EQ(gate_->failure(), "");
}

TEST_F(FrameGate, HandsOverNothingOfAWrongFrameAndWhatIsBehindIt) {
    send(server_, connected_frame(7) + reply_frame(1) + event_frame("/a"));
    EXPECT_THAT(handed_over(), ElementsAre(connected_frame(7)));
    EXPECT_TRUE(gate_->wrong_frame());
    EXPECT_THAT(gate_->failure(), HasSubstr("malformed answer: to request 1"));
    EXPECT_THAT(handed_over(), ElementsAre());
}

TEST_F(FrameGate, RefusesALengthThatNoFrameHas) {
    for (const std::string_view text : {"HTTP/1.1 400", "\xff\xff\xff\xff", "\x04\x01\x01\x01"}) {
        send(server_, text);
        EXPECT_THAT(handed_over(), ElementsAre());
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
    EXPECT_THAT(handed_over(), ElementsAre(connected_frame(7)));
    EXPECT_FALSE(gate_->read());
    EXPECT_EQ(gate_->failure(), "the server closed the connection");
    EXPECT_FALSE(gate_->wrong_frame());
}

}  // namespace
}  // namespace latchkey::test
