#include "supervisor/session_end.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

using steady = std::chrono::steady_clock;

/// A server that accepts connections and does not answer costs so much.
constexpr std::chrono::milliseconds longest_session_end_attempt{2000};
constexpr std::chrono::milliseconds pause_between_rounds{100};

struct packed_claim {
    std::int64_t id;
    std::int64_t timeout;  // in milliseconds
    std::array<char, 16> password;
};

/// A frame of ZooKeeper's protocol: big endian, with its length in front.
class end_frame {
public:
    end_frame& number(std::uint64_t value, int size) {
        for (int i = size - 1; i >= 0; --i) {
            bytes_ += static_cast<char>(value >> (8 * i));
        }
        return *this;
    }

    end_frame& raw(std::string_view bytes) {
        bytes_ += bytes;
        return *this;
    }

    [[nodiscard]] std::string take() const {
        return end_frame().number(bytes_.size(), 4).bytes_ + bytes_;
    }

private:
    std::string bytes_;
};

std::string connect_request(const session_claim& claim) {
    constexpr int flag = 1;
    return end_frame()
        .number(0, 4)  // version of the protocol
        .number(0, 8)  // nothing was seen: every server will do
        .number(static_cast<std::uint64_t>(claim.timeout.count()), 4)
        .number(static_cast<std::uint64_t>(claim.id), 8)
        .number(claim.password.size(), 4)
        .raw({claim.password.data(), claim.password.size()})
        .number(0, flag)  // not a server that only reads
        .take();
}

std::string close_session_request() {
    constexpr auto close_session = static_cast<std::uint32_t>(-11);
    return end_frame().number(1, 4).number(close_session, 4).take();
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (const char c : bytes.substr(at, 4)) {
        value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
}

/// One connection, which waits for nothing beyond its deadline.
class server_connection {
public:
    server_connection(const addrinfo& to, steady::time_point deadline)
        : fd_(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, to.ai_protocol)),
          deadline_(deadline) {
        good_ = fd_ >= 0 && (::connect(fd_, to.ai_addr, to.ai_addrlen) == 0 ||
                             (errno == EINPROGRESS && await(POLLOUT) && no_error()));
    }

    server_connection(const server_connection&) = delete;
    server_connection& operator=(const server_connection&) = delete;

    ~server_connection() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }

    /// False if it is not sent as a whole; so little fits into every socket's buffer.
    [[nodiscard]] bool send(const std::string& bytes) const {
        return good_ && ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                            static_cast<ssize_t>(bytes.size());
    }

    /// The next frame; empty if there is none in time.
    [[nodiscard]] std::string receive() const {
        constexpr std::size_t longest_answer = 4096;
        const std::string length = receive(4);
        const std::size_t size = length.empty() ? 0 : number_at(length, 0);
        return size > longest_answer ? std::string() : receive(size);
    }

private:
    [[nodiscard]] std::string receive(std::size_t size) const {
        std::string bytes(size, '\0');
        std::size_t got = 0;
        while (got < size && await(POLLIN)) {
            const auto more = ::recv(fd_, bytes.data() + got, size - got, 0);
            if (more == 0 || (more < 0 && errno != EAGAIN && errno != EINTR)) {
                break;
            }
            got += more > 0 ? static_cast<std::size_t>(more) : 0;
        }
        return got == size ? bytes : std::string();
    }

    [[nodiscard]] bool await(short what) const {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - steady::now());
        pollfd waiting{fd_, what, 0};
        return left.count() > 0 && ::poll(&waiting, 1, static_cast<int>(left.count())) == 1;
    }

    [[nodiscard]] bool no_error() const {
        int error = 0;
        socklen_t size = sizeof error;
        return ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    }

    int fd_;
    steady::time_point deadline_;
    bool good_ = false;
};

/// Whether the server has confirmed that the session is over.
bool end_at(const addrinfo& server, const session_claim& claim, steady::time_point deadline) {
    const server_connection connection(server, deadline);
    if (!connection.send(connect_request(claim))) {
        return false;
    }
    // Version, timeout, session, password.
    const std::string welcome = connection.receive();
    if (welcome.size() < 16) {
        return false;
    }
    if (number_at(welcome, 4) == 0) {
        return true;  // a timeout of zero: there is no such session
    }
    if (!connection.send(close_session_request())) {
        return false;
    }
    // Request number, zxid, error.
    const std::string closed = connection.receive();
    return closed.size() >= 16 && number_at(closed, 12) == 0;
}

using server_addresses = std::shared_ptr<const addrinfo>;

/// Null if there are none.
server_addresses addresses_of(const std::string& server, int flags) {
    const auto colon = server.rfind(':');
    if (colon == std::string::npos) {
        return nullptr;
    }
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV | flags;
    addrinfo* found = nullptr;
    const std::string host = server.substr(0, colon);
    const std::string port = server.substr(colon + 1);
    return ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) == 0
               ? server_addresses(found, [](addrinfo* all) { ::freeaddrinfo(all); })
               : nullptr;
}

/// What is known of the servers: numeric addresses at once, and those of a name when it is
/// answered. Each look-up has a thread of its own, which nothing waits for.
class known_servers {
public:
    known_servers(const std::vector<std::string>& servers, steady::time_point end)
        : known_(std::make_shared<guarded>()) {
        for (const std::string& server : servers) {
            auto numeric = addresses_of(server, AI_NUMERICHOST);
            if (numeric) {
                known_->all.push_back(std::move(numeric));
            } else {
                start_look_up(server, end);
            }
        }
    }

    [[nodiscard]] std::vector<server_addresses> now() const {
        const std::lock_guard lock(known_->mutex);
        return known_->all;
    }

private:
    struct guarded {
        std::mutex mutex;
        std::vector<server_addresses> all;
    };

    void start_look_up(const std::string& server, steady::time_point end) const {
        sigset_t every{};
        sigset_t before{};
        ::sigfillset(&every);
        ::pthread_sigmask(SIG_SETMASK, &every, &before);  // signals are for the other thread
        try {
            std::thread([known = known_, server, end] {
                server_addresses found;
                while ((found = addresses_of(server, 0)) == nullptr && steady::now() < end) {
                    ::poll(nullptr, 0, static_cast<int>(pause_between_rounds.count()));
                }
                const std::lock_guard lock(known->mutex);
                if (found) {
                    known->all.push_back(std::move(found));
                }
            }).detach();
        } catch (const std::system_error&) {
            // Without a thread the other servers remain.
        }
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    const std::shared_ptr<guarded> known_;
};

bool end_at_any(const server_addresses& of, const session_claim& claim, steady::time_point end) {
    for (const addrinfo* one = of.get(); one != nullptr; one = one->ai_next) {
        const auto limit = std::min(steady::now() + longest_session_end_attempt, end);
        if (end_at(*one, claim, limit)) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string packed(const session_to_end& s) {
    const packed_claim fixed{s.claim.id, s.claim.timeout.count(), s.claim.password};
    std::string bytes(reinterpret_cast<const char*>(&fixed), sizeof fixed);
    bytes += s.claim.server + '\0';
    for (const std::string& server : s.servers) {
        bytes += server + '\0';
    }
    return bytes;
}

session_to_end unpacked(std::string_view bytes) {
    session_to_end s;
    packed_claim fixed{};
    if (bytes.size() < sizeof fixed) {
        return s;
    }
    std::memcpy(&fixed, bytes.data(), sizeof fixed);
    s.claim = {fixed.id, fixed.password, std::chrono::milliseconds(fixed.timeout), {}};
    for (auto rest = bytes.substr(sizeof fixed); !rest.empty();) {
        s.servers.emplace_back(rest.substr(0, rest.find('\0')));
        rest.remove_prefix(std::min(s.servers.back().size() + 1, rest.size()));
    }
    if (!s.servers.empty()) {
        s.claim.server = std::move(s.servers.front());
        s.servers.erase(s.servers.begin());
    }
    return s;
}

bool end_session(const session_to_end& s) {
    if (s.claim.id == 0) {
        return false;
    }
    std::vector<std::string> all{s.claim.server};
    all.insert(all.end(), s.servers.begin(), s.servers.end());
    const auto end = steady::now() + s.claim.timeout;
    const known_servers servers(all, end);
    while (steady::now() < end) {
        for (const auto& server : servers.now()) {
            if (end_at_any(server, s.claim, end)) {
                return true;
            }
        }
        ::poll(nullptr, 0, static_cast<int>(pause_between_rounds.count()));
    }
    return false;
}

}  // namespace latchkey::cli
