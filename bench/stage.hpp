#pragma once

#include <latchkey/client.hpp>

#include "another_session.hpp"
#include "real_ensemble.hpp"
#include "sequential_client.hpp"
#include "tcp_proxy.hpp"

#include <optional>
#include <string>

namespace latchkey::bench {

/// What the two forms talk to.
struct setting {
    enum class role : unsigned char { standalone, leader, follower };

    role server = role::standalone;
    bool distant = false;  ///< a millisecond of round-trip time more
    bool busy = true;      ///< another session asks the server something all the time

    [[nodiscard]] std::string name() const;

    [[nodiscard]] int servers() const { return server == role::standalone ? 1 : 3; }
};

/// A setting in being: servers, and two clients of each form, all connected to the same server.
class stage {
public:
    /// Ends the one there was, unless it is of the same setting: more servers than cores only
    /// disturb each other.
    static stage& of(const setting& s);
    static void clear();

    explicit stage(const setting& s);
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;
    ~stage();

    /// Directories of the two forms.
    [[nodiscard]] const std::string& latchkey_path() const { return latchkey_path_; }

    [[nodiscard]] const std::string& plain_path() const { return plain_path_; }

    /// `host:port`, of the server to which all clients are connected.
    [[nodiscard]] const std::string& address() const { return address_; }

    latchkey::client& one() { return *one_; }

    latchkey::client& other() { return *other_; }

    sequential_client& plain_one() { return *plain_one_; }

    sequential_client& plain_other() { return *plain_other_; }

private:
    const setting setting_;
    test::real_ensemble ensemble_;
    std::optional<test::tcp_proxy> proxy_;
    std::string address_;
    const std::string latchkey_path_ = "/bench/latchkey";
    const std::string plain_path_ = "/bench-plain";
    std::optional<latchkey::client> one_;
    std::optional<latchkey::client> other_;
    std::optional<another_session> busy_;
    std::optional<sequential_client> plain_one_;
    std::optional<sequential_client> plain_other_;
};

}  // namespace latchkey::bench
