#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {

/// Plays a ZooKeeper server far enough to provoke what real ones do rarely: it shakes hands, and
/// records the requests. It answers deletes with ok; pings, credentials, lists and the end of a
/// session as the test has set; and everything else with "no node". It keeps no data. Its members
/// are for any thread; what they ask for is done when they return.
class scripted_server {
public:
    enum class greeting : std::uint8_t {
        welcome,          ///< the session asked for, or a new one
        silence,          ///< accepts and never says anything
        refuse_session,   ///< "expired"
        another_session,  ///< a new one, whatever was asked for
        nonsense,         ///< an answer with a length below zero
    };

    /// Listens on `host`, a numeric address.
    explicit scripted_server(greeting g = greeting::welcome, const std::string& host = "127.0.0.1");
    ~scripted_server();
    scripted_server(const scripted_server&) = delete;
    scripted_server& operator=(const scripted_server&) = delete;

    /// "127.0.0.1:port"
    [[nodiscard]] const std::string& address() const { return address_; }

    [[nodiscard]] std::uint16_t port() const;

    void greet(greeting g);
    /// False: takes requests and does not answer any more, not even pings.
    void answer(bool on);
    /// The result code for credentials, 0 or -115.
    void answer_credentials(std::int32_t code);
    /// The names that every directory has; before this is called there is no directory.
    void answer_lists(std::vector<std::string> names);
    /// The answer to the word `srvr`; before this is called, it stays unanswered.
    void answer_word(std::string text);
    /// How often the word was sent.
    [[nodiscard]] std::size_t words() const;
    /// Resets all connections.
    void reset_connections();

    /// Handshakes asked for so far.
    [[nodiscard]] std::size_t handshakes() const;
    /// How many of them would have taken a server that can only be read from.
    [[nodiscard]] std::size_t read_only_handshakes() const;
    /// Connections accepted, and those of them that the client has ended.
    [[nodiscard]] std::size_t accepted() const;
    [[nodiscard]] std::size_t hung_up() const;
    /// The types of all requests, in order, as in the protocol.
    [[nodiscard]] std::vector<std::int32_t> requests() const;
    [[nodiscard]] std::size_t count(std::int32_t type) const;

    static constexpr std::int32_t type_delete = 2;
    static constexpr std::int32_t type_children = 12;
    static constexpr std::int32_t type_ping = 11;
    static constexpr std::int32_t type_credentials = 100;
    static constexpr std::int32_t type_close = -11;

private:
    class engine;
    std::unique_ptr<engine> engine_;
    std::string address_;
};

/// A port where connecting takes for ever: the queue of the listening socket is full, so the kernel
/// ignores new connections as a filtering firewall would.
class full_listener {
public:
    full_listener();
    ~full_listener();
    full_listener(const full_listener&) = delete;
    full_listener& operator=(const full_listener&) = delete;

    [[nodiscard]] const std::string& address() const { return address_; }

private:
    std::vector<int> sockets_;
    std::string address_;
};

}  // namespace latchkey::test
