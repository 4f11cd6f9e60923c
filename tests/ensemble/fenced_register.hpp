#pragma once

#include "history.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/streambuf.hpp>

namespace latchkey::test {

/// A number outside ZooKeeper for each lock, behind a socket: what the locks are there to protect.
///
/// It remembers the greatest token that it has seen with a number, refuses every access with a
/// lower one, and counts. It lives in the memory of the process that runs the workers, who come and
/// go. Connections are served by one thread, a request at a time: its order is the register's.
class fenced_register {
public:
    enum class policy : std::uint8_t { refuses_lower_tokens, takes_everything };

    explicit fenced_register(const std::filesystem::path& socket,
                             policy p = policy::refuses_lower_tokens);
    ~fenced_register();
    fenced_register(const fenced_register&) = delete;
    fenced_register& operator=(const fenced_register&) = delete;

    [[nodiscard]] std::string socket() const { return acceptor_.local_endpoint().path(); }

    /// All accesses so far, in order.
    [[nodiscard]] std::vector<history::access> accesses() const;
    [[nodiscard]] std::int64_t value(const std::string& lock) const;
    /// Waits for the next claim that is accepted, and tells whose it is: a holder, between its read
    /// and its first write. Empty when there is none within the limit.
    [[nodiscard]] std::optional<int> next_claimant(const std::string& lock,
                                                   std::chrono::milliseconds limit) const;

private:
    using stream_protocol = boost::asio::local::stream_protocol;

    struct cell {
        std::int64_t token = 0;
        std::int64_t value = 0;
        std::size_t claims = 0;
        int claimant = 0;
    };

    struct connection {
        explicit connection(stream_protocol::socket s) : socket(std::move(s)) {}

        stream_protocol::socket socket;
        boost::asio::streambuf input;
        std::string answer;
    };

    void accept();
    void serve(const std::shared_ptr<connection>& c);
    [[nodiscard]] std::string work_on(std::istream& request);
    [[nodiscard]] cell cell_of(const std::string& lock) const;

    policy policy_;
    boost::asio::io_context context_;
    stream_protocol::acceptor acceptor_;
    mutable std::mutex mutex_;
    mutable std::condition_variable claimed_;
    std::map<std::string, cell> cells_;
    std::vector<history::access> accesses_;
    std::thread thread_;
};

/// A worker's connection to it. Not for several threads. Throws std::runtime_error when the
/// register is gone.
class register_connection {
public:
    register_connection(const std::filesystem::path& socket, int worker);

    /// Brings the token and reads; empty when refused.
    [[nodiscard]] std::optional<std::int64_t> claim(const std::string& lock, std::int64_t token);
    /// Whether it was taken.
    [[nodiscard]] bool write(const std::string& lock, std::int64_t token, std::int64_t value);

private:
    std::string ask(const std::string& request);

    boost::asio::local::stream_protocol::iostream stream_;
    int worker_;
};

}  // namespace latchkey::test
