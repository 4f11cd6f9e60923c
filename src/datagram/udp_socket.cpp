#include "datagram/udp_socket.hpp"

#include <latchkey/error.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace latchkey::inline v0 {
namespace {

/// So many datagrams are read before the loop goes on with something else.
constexpr int most_at_once = 32;

class descriptor {
public:
    explicit descriptor(int fd) noexcept : fd_(fd) {}

    descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

    descriptor& operator=(descriptor&&) = delete;

    ~descriptor() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }

    [[nodiscard]] int get() const noexcept { return fd_; }

    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

private:
    int fd_;
};

/// Bound to the first of its ports that is free.
descriptor bound_to(const datagram_address& a) {
    const socket_address numeric = socket_address_of(a.host, 0);
    descriptor made(
        ::socket(numeric.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP));
    int failed = errno;
    for (std::uint32_t port = a.first_port; made.get() >= 0 && port <= a.last_port; ++port) {
        const socket_address at = socket_address_of(a.host, static_cast<std::uint16_t>(port));
        if (::bind(made.get(), at.get(), at.size) == 0) {
            return made;
        }
        failed = errno;
        if (failed != EADDRINUSE) {
            break;
        }
    }
    throw error(errc::invalid_argument,
                "cannot listen at the direct address " + a.host + ", port " +
                    std::to_string(a.first_port) +
                    (a.last_port != a.first_port ? " to " + std::to_string(a.last_port) : "") +
                    ": " + std::generic_category().message(failed) +
                    "; give an address of this host and a free port, or 0");
}

socket_address parse(const std::string& to) {
    const auto colon = to.rfind(':');
    std::uint16_t port = 0;
    if (colon == std::string::npos || colon < 2 ||
        std::from_chars(to.data() + colon + 1, to.data() + to.size(), port).ec != std::errc()) {
        return {};
    }
    return socket_address_of(to.front() == '[' ? to.substr(1, colon - 2) : to.substr(0, colon),
                             port);
}

class udp_socket final : public datagram_socket {
public:
    udp_socket(std::shared_ptr<io_loop> l, const std::vector<datagram_address>& at)
        : loop_(std::move(l)) {
        for (const datagram_address& a : at) {
            opened_.push_back(bound_to(a));
            socket_address own;
            own.size = sizeof own.storage;
            ::getsockname(opened_.back().get(), own.get(), &own.size);
            families_.push_back(own.family());
            addresses_.push_back(text_of(own));
        }
    }

    [[nodiscard]] const std::vector<std::string>& addresses() const noexcept override {
        return addresses_;
    }

    [[nodiscard]] std::string new_secret() override {
        std::string secret(32, '\0');
        if (::getentropy(secret.data(), secret.size()) != 0) {
            throw std::system_error(errno, std::generic_category(), "random bytes");
        }
        return secret;
    }

    void receive(receiver r) override {
        receiver_ = std::move(r);
        for (descriptor& d : opened_) {
            watches_.push_back(loop_->watch(d.release()));
            await(*watches_.back());
        }
        opened_.clear();
    }

    void send(const std::string& to, std::string_view message) override {
        const socket_address at = parse(to);
        for (std::size_t i = 0; at.size != 0 && i < watches_.size(); ++i) {
            if (families_[i] == at.family() && ::sendto(watches_[i]->descriptor(),
                                                        message.data(),
                                                        message.size(),
                                                        MSG_DONTWAIT | MSG_NOSIGNAL,
                                                        at.get(),
                                                        at.size) >= 0) {
                return;
            }
        }
    }

private:
    void await(descriptor_watch& w) {
        w.await(descriptor_watch::direction::read, [this, &w] {
            // The receiver may destroy this object.
            const std::weak_ptr<const bool> alive = alive_;
            for (int i = 0; i < most_at_once && !alive.expired() && read_one(w); ++i) {
            }
            if (!alive.expired()) {
                await(w);
            }
        });
    }

    /// False: there is nothing to read now.
    bool read_one(const descriptor_watch& w) {
        std::array<char, longest_datagram> buffer{};
        socket_address from;
        from.size = sizeof from.storage;
        const auto size = ::recvfrom(w.descriptor(),
                                     buffer.data(),
                                     buffer.size(),
                                     MSG_DONTWAIT | MSG_TRUNC,
                                     from.get(),
                                     &from.size);
        if (size < 0) {
            // An earlier datagram may have been refused: that is told once.
            return !would_block() || errno == EINTR;
        }
        const auto length = static_cast<std::size_t>(size);
        if (length <= buffer.size()) {
            const receiver call = receiver_;
            call(text_of(from), std::string_view(buffer.data(), length));
        }
        return true;
    }

    const std::shared_ptr<io_loop> loop_;
    std::vector<descriptor> opened_;  ///< until it receives
    std::vector<int> families_;
    std::vector<std::string> addresses_;
    receiver receiver_;
    const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
    std::vector<std::unique_ptr<descriptor_watch>> watches_;
};

}  // namespace

std::unique_ptr<datagram_socket> open_udp(const std::shared_ptr<io_loop>& loop,
                                          const std::vector<datagram_address>& at) {
    return std::make_unique<udp_socket>(loop, at);
}

}  // namespace latchkey::inline v0
