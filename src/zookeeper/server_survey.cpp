#include "zookeeper/server_survey.hpp"

#include "tls/tls_tunnel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <sys/socket.h>

namespace latchkey::inline v0 {
namespace {

using direction = descriptor_watch::direction;

constexpr std::string_view word = "srvr";
constexpr std::size_t longest_answer = 4096;

bool contains(std::string_view text, std::string_view what) {
    return text.find(what) != std::string_view::npos;
}

/// A socket that begins to connect to `to`; with TLS, one that a tunnel has taken over. Throws
/// std::system_error.
std::unique_ptr<descriptor_watch> connect(io_loop& l,
                                          const server_address& to,
                                          const std::shared_ptr<tls_tunnel>& tunnel) {
    const boost::asio::ip::tcp::endpoint at(boost::asio::ip::make_address(to.address), to.port);
    const int family = at.protocol().family();
    const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) {
        throw std::system_error(errno, std::generic_category(), "socket");
    }
    auto watch = l.watch(socket);
    if (tunnel) {
        tunnel->take_over(socket);
    } else if (::connect(socket, at.data(), static_cast<socklen_t>(at.size())) != 0 &&
               errno != EINPROGRESS) {
        throw std::system_error(errno, std::generic_category(), "connect");
    }
    return watch;
}

}  // namespace

server_answer server_answer::of(std::string_view text) {
    const bool leads = contains(text, "\nMode: leader\n") || contains(text, "\nMode: standalone\n");
    const bool reads_only = contains(text, "\nMode: read-only\n");
    return {.usable = (contains(text, "\nMode: ") && !reads_only) ||
                      contains(text, "not in the whitelist"),
            .leads = leads};
}

std::chrono::nanoseconds about_as_near(std::chrono::nanoseconds first) noexcept {
    constexpr std::chrono::microseconds for_other_work{200};
    return first + first / 2 + for_other_work;
}

std::optional<std::size_t> preferred(server_preference what,
                                     const std::vector<server_answer>& answers) {
    auto first = std::chrono::nanoseconds::max() / 2;
    for (const server_answer& a : answers) {
        first = a.usable ? std::min(first, a.after) : first;
    }
    const auto found = std::find_if(answers.begin(), answers.end(), [&](const server_answer& a) {
        return what == server_preference::leader ? a.leads
                                                 : a.usable && a.after <= about_as_near(first);
    });
    if (found == answers.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - answers.begin());
}

/// One server.
class server_survey::inquiry {
public:
    inquiry(server_survey& of, server_address at, const std::shared_ptr<tls_identity>& tls)
        : of_(of), at_(std::move(at)) {
        try {
            if (tls) {
                tunnel_ = tls_tunnel::open(*of_.loop_, {tls, at_.address, at_.port, at_.name});
            }
            connection_ = connect(*of_.loop_, at_, tunnel_);
            connection_->await(direction::write, [this] { ask(); });
        } catch (const std::system_error&) {
            connection_.reset();
        }
    }

    void stop() noexcept { connection_.reset(); }

    [[nodiscard]] bool is_over() const noexcept { return connection_ == nullptr; }

    [[nodiscard]] const server_answer& answer() const noexcept { return answer_; }

    [[nodiscard]] const server_address& at() const noexcept { return at_; }

private:
    void ask() {
        if (error_of(connection_->descriptor()) != 0) {
            return end();
        }
        const auto sent = ::send(
            connection_->descriptor(), word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent != static_cast<ssize_t>(word.size())) {
            return end();
        }
        connection_->await(direction::read, [this] { read(); });
    }

    void read() {
        std::array<char, longest_answer> piece{};
        const auto got =
            ::recv(connection_->descriptor(), piece.data(), piece.size(), MSG_DONTWAIT);
        if (got > 0) {
            text_.append(piece.data(), static_cast<std::size_t>(got));
        }
        answer_ = server_answer::of(text_);
        answer_.after = of_.loop_->now() - of_.begun_;
        const bool more = got > 0 ? text_.size() < longest_answer : got < 0 && would_block();
        if (answer_.usable || !more) {
            return end();
        }
        connection_->await(direction::read, [this] { read(); });
    }

    /// Nothing follows in the calls above: the survey may be destroyed here.
    void end() {
        connection_.reset();
        of_.ended(*this);
    }

    server_survey& of_;
    const server_address at_;
    std::shared_ptr<tls_tunnel> tunnel_;
    std::unique_ptr<descriptor_watch> connection_;
    std::string text_;
    server_answer answer_;
};

server_survey::server_survey(io_loop& l,
                             const std::shared_ptr<tls_identity>& tls,
                             server_preference prefer,
                             const std::vector<server_address>& servers,
                             std::chrono::milliseconds limit,
                             std::function<void()> decided)
    : loop_(&l),
      prefer_(prefer),
      begun_(l.now()),
      decided_(std::move(decided)),
      decision_(l),
      limit_(l) {
    for (const auto& s : servers) {
        inquiries_.emplace_back(*this, s, tls);
    }
    limit_.start(limit, [this] {
        for (inquiry& i : inquiries_) {
            i.stop();
        }
        decide();
    });
    if (all_over()) {
        decision_.start(loop::clock::duration::zero(), [this] { decide(); });
    }
}

server_survey::~server_survey() = default;

bool server_survey::is_final() const noexcept {
    return prefer_ == server_preference::leader
               ? best_.has_value()
               : std::all_of(inquiries_.begin(), inquiries_.end(), [](const auto& i) {
                     return i.answer().usable;
                 });
}

void server_survey::ended(const inquiry& one) {
    if (is_decided()) {
        return;
    }
    if (all_over() || (prefer_ == server_preference::leader && one.answer().leads)) {
        return decide();
    }
    if (prefer_ == server_preference::near && one.answer().usable && !decision_.running()) {
        decision_.start(begun_ + about_as_near(one.answer().after), [this] { decide(); });
    }
}

bool server_survey::all_over() const {
    return std::all_of(
        inquiries_.begin(), inquiries_.end(), [](const auto& i) { return i.is_over(); });
}

void server_survey::decide() {
    if (is_decided()) {
        return;
    }
    std::vector<server_answer> answers;
    for (const inquiry& i : inquiries_) {
        answers.push_back(i.answer());
    }
    if (const auto which = preferred(prefer_, answers)) {
        best_ = std::next(inquiries_.begin(), static_cast<std::ptrdiff_t>(*which))->at();
    }
    decision_.cancel();
    std::exchange(decided_, nullptr)();
}

}  // namespace latchkey::inline v0
