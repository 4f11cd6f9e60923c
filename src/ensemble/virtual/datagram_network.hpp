#pragma once

#include "datagram/datagram_socket.hpp"
#include "ensemble/virtual/client_process.hpp"
#include "ensemble/virtual/random_source.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::model {

/// The network of datagrams between the clients: it delays, and on demand loses, doubles and forges
/// them. Each client has an address of its own. On the loop only, but for open().
class datagram_network {
public:
    /// Chances, of each datagram.
    struct faults {
        double lost = 0;
        double doubled = 0;  ///< and then comes at two times
        double late = 0;     ///< by up to `latest`
        double forged = 0;   ///< is changed somewhere, or makes somebody tell a lie
        std::chrono::nanoseconds latest{std::chrono::seconds(30)};
        bool cut_off = false;  ///< none arrives
    };

    datagram_network(const std::shared_ptr<virtual_loop>& l, random_source random);
    datagram_network(const datagram_network&) = delete;
    datagram_network& operator=(const datagram_network&) = delete;

    /// A socket of this client with so many addresses. On any thread.
    [[nodiscard]] std::unique_ptr<datagram_socket> open(std::shared_ptr<client_process> of,
                                                        std::size_t addresses);

    void set(const faults& how) noexcept { faults_ = how; }

    /// From now on each datagram is shown that a client sends.
    void show(std::function<void(std::string_view)> to) { shown_ = std::move(to); }

    /// How many have arrived.
    [[nodiscard]] std::uint64_t arrived() const noexcept { return arrived_; }

private:
    class socket;

    void send(const std::string& from, const std::string& to, std::string message);
    void forge(const std::string& from, const std::string& to, std::string& message);
    void deliver(const std::string& from, const std::string& to, std::string message);

    const std::weak_ptr<virtual_loop> loop_;
    random_source random_;
    faults faults_;
    std::map<std::string, socket*> sockets_;  ///< that receive, by their addresses
    std::function<void(std::string_view)> shown_;
    std::uint64_t arrived_ = 0;
    std::atomic<std::uint32_t> last_{0};
};

}  // namespace latchkey::model
