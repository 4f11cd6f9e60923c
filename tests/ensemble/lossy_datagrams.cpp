#include "lossy_datagrams.hpp"

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using clock = std::chrono::steady_clock;

/// How many it keeps, to send them later.
constexpr std::size_t most_kept = 32;

struct datagram {
    int socket = 0;
    std::string bytes;
    sockaddr_storage to{};
    socklen_t length = 0;
};

ssize_t send(const datagram& d) {
    return ::syscall(SYS_sendto, d.socket, d.bytes.data(), d.bytes.size(), 0, &d.to, d.length);
}

class lossy_network {
public:
    explicit lossy_network(std::uint64_t seed) : random_(seed) {}

    void take(datagram d) {
        const std::lock_guard lock(mutex_);
        if (clock::now() > changes_) {
            changes_ = clock::now() + std::chrono::milliseconds(below(4000));
            cut_off_ = below(4) == 0;
        }
        const unsigned what = below(10);
        if (!kept_.empty() && below(4) == 0) {
            send_unless_cut_off(kept_[below(static_cast<unsigned>(kept_.size()))]);
        }
        if (what > 1) {  // the others are lost, or only late
            send_unless_cut_off(d);
        }
        if (what == 1 || what == 2) {
            if (kept_.size() == most_kept) {
                kept_.erase(kept_.begin());
            }
            kept_.push_back(std::move(d));
        }
    }

private:
    [[nodiscard]] unsigned below(unsigned limit) {
        return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
    }

    void send_unless_cut_off(const datagram& d) const {
        if (!cut_off_) {
            static_cast<void>(send(d));
        }
    }

    std::mutex mutex_;
    std::mt19937_64 random_;
    std::vector<datagram> kept_;
    clock::time_point changes_{};
    bool cut_off_ = false;
};

std::unique_ptr<lossy_network> network;

}  // namespace

void lose_datagrams(std::uint64_t seed) {
    network = std::make_unique<lossy_network>(seed);
}

}  // namespace latchkey::test

/// Ahead of that of the C library. ZooKeeper's client does not use it.
extern "C" ssize_t sendto(int socket,
                          const void* bytes,
                          std::size_t size,
                          int flags,
                          const sockaddr* to,
                          socklen_t length) {
    using namespace latchkey::test;
    if (!network || to == nullptr || length > sizeof(sockaddr_storage)) {
        return ::syscall(SYS_sendto, socket, bytes, size, flags, to, length);
    }
    datagram d{.socket = socket,
               .bytes = std::string(static_cast<const char*>(bytes), size),
               .length = length};
    std::memcpy(&d.to, to, length);
    network->take(std::move(d));
    return static_cast<ssize_t>(size);
}
