#include "zookeeper/frame_gate.hpp"

#include "loop/io_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::inline v0 {
namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t least_piece = 4096;
/// Of a frame that is larger. Memory is needed for what has arrived, never for what is announced.
constexpr std::size_t largest_piece = 256U << 10U;

/// The length that a frame begins with. It must be there.
std::size_t length_at(const std::string& bytes, std::size_t begin) noexcept {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + begin, sizeof length);
    return ntohl(length);
}

}  // namespace

frame_gate::frame_gate(int network, int client, bool continues)
    : network_(network), check_(continues) {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    end_ = ends[0];
    const bool replaced = ::dup3(ends[1], client, O_CLOEXEC) >= 0;
    const int error = errno;
    ::close(ends[1]);
    if (!replaced) {
        ::close(end_);
        throw std::system_error(error, std::generic_category(), "dup3");
    }
}

frame_gate::~frame_gate() {
    ::close(end_);
}

// ---- from the server to the C client

/// Of the frame that has begun to arrive.
std::size_t frame_gate::missing() const noexcept {
    const std::size_t here = in_.size() - checked_;
    return here < length_size ? 0 : length_size + length_at(in_, checked_) - here;
}

bool frame_gate::read() {
    if (!failure_.empty()) {
        return false;
    }
    const std::size_t wanted = std::clamp(missing(), least_piece, largest_piece);
    in_.erase(0, std::exchange(checked_, 0));
    handed_to_ = 0;
    if (in_.empty() && in_.capacity() > largest_piece) {
        in_.shrink_to_fit();
    }
    const std::size_t before = in_.size();
    in_.resize(before + wanted);
    const auto got = ::recv(network_, in_.data() + before, wanted, MSG_DONTWAIT);
    in_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) {
        fail("the server closed the connection");
    } else if (got < 0 && !would_block()) {
        fail(std::generic_category().message(errno));
    }
    return got == static_cast<ssize_t>(wanted);
}

std::size_t frame_gate::check() {
    const bool alone = !check_.welcomed();
    std::size_t right = 0;
    while ((right == 0 || !alone) && next_is_right()) {
        ++right;
    }
    return right;
}

/// Checks the next frame, if it is whole.
bool frame_gate::next_is_right() {
    if (!failure_.empty() || in_.size() - checked_ < length_size) {
        return false;
    }
    const std::size_t length = length_at(in_, checked_);
    const std::size_t body = checked_ + length_size;
    wrong_frame_ = length > longest_frame;
    if (wrong_frame_) {
        fail("malformed answer: a length of " +
             std::to_string(static_cast<std::int32_t>(static_cast<std::uint32_t>(length))));
        return false;
    }
    if (in_.size() - body < length) {
        return false;
    }
    std::string wrong = check_.received(std::string_view(in_).substr(body, length));
    wrong_frame_ = !wrong.empty();
    if (wrong_frame_) {
        fail(std::move(wrong));
        return false;
    }
    checked_ = body + length;
    return true;
}

bool frame_gate::hand_over() {
    if (handed_to_ == checked_) {
        return true;
    }
    const auto given =
        ::send(end_, in_.data() + handed_to_, checked_ - handed_to_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (given < 0) {
        return !would_block();  // the C client has ended the connection
    }
    handed_to_ += static_cast<std::size_t>(given);
    return handed_to_ == checked_;
}

// ---- from the C client to the server

void frame_gate::collect() {
    std::array<char, 16384> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    ssize_t got = 0;
    do {
        got = ::recv(end_, piece.data(), piece.size(), MSG_DONTWAIT);
        out_.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    } while (got == static_cast<ssize_t>(piece.size()));
    note_requests();
}

void frame_gate::note_requests() {
    while (out_.size() - out_whole_ >= length_size) {
        const std::size_t body = out_whole_ + length_size;
        const std::size_t length = length_at(out_, out_whole_);
        if (out_.size() - body < length) {
            return;
        }
        check_.sent(std::string_view(out_).substr(body, length));
        out_whole_ = body + length;
    }
}

void frame_gate::flush() {
    std::size_t sent = 0;
    while (sent < out_whole_ && failure_.empty()) {
        const auto taken =
            ::send(network_, out_.data() + sent, out_whole_ - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (taken < 0 && !would_block()) {
            fail(std::generic_category().message(errno));
        }
        if (taken <= 0) {
            break;
        }
        sent += static_cast<std::size_t>(taken);
    }
    out_.erase(0, sent);
    out_whole_ -= sent;
}

void frame_gate::fail(std::string why) {
    if (failure_.empty()) {
        failure_ = std::move(why);
    }
}

}  // namespace latchkey::inline v0
