#pragma once

#include "server_links.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::test {

struct real_ensemble_options {
    /// 1 (standalone), 3 or 5.
    int servers = 3;
    std::chrono::milliseconds tick{200};
    /// Of the clients; 0: a free one.
    int port = 0;
    /// More lines for zoo.cfg, "key=value".
    std::vector<std::string> settings = {};
    /// Lets isolate() be used.
    bool can_isolate = false;
    /// Lets links() be used, and isolate(): the servers reach each other through proxies in this
    /// process.
    bool has_links = false;
    /// More options for the servers' JVMs.
    std::vector<std::string> java = {};
};

/// Real ZooKeeper servers, run by scripts/ensemble, or by the script that
/// LATCHKEY_TEST_ENSEMBLE_SCRIPT names: scripts/compose-ensemble runs them in containers.
///
/// A test that only talks to servers takes `shared()`, and a path of its own in it
/// (`fresh_path()`). One that breaks servers takes `breakable()`, or makes an ensemble for itself;
/// its program is declared with SERVERS breakable or own, so that it is left out where the servers
/// belong to another user.
///
/// Servers are counted from 1, in the order of the connect string. Every failure throws
/// std::runtime_error with what the script said. Not for use by several threads at once, except the
/// const members.
class real_ensemble {
public:
    /// Starts servers for this object alone; returns when all serve (one to a few seconds).
    explicit real_ensemble(const real_ensemble_options& options = {});
    /// Stops them. They also stop when the test program is killed.
    ~real_ensemble();
    real_ensemble(const real_ensemble&) = delete;
    real_ensemble& operator=(const real_ensemble&) = delete;

    /// The ensemble that tests share: the servers that LATCHKEY_TEST_SERVERS lists, else the one
    /// that ctest started for its run, else one for this program, started at first use.
    static real_ensemble& shared();

    /// Three servers that tests may break, one test at a time: those that ctest started for its
    /// run, else three for this program alone, started at first use. Whole on return.
    static real_ensemble& breakable();

    /// "127.0.0.1:port,127.0.0.2:port,..."
    [[nodiscard]] const std::string& connect_string() const { return connect_string_; }

    [[nodiscard]] int size() const { return static_cast<int>(servers_.size()); }

    /// "host:port" of one server.
    [[nodiscard]] std::string address(int server) const;
    /// A path below the root that no other test uses; nothing is created.
    [[nodiscard]] static std::string fresh_path();

    /// SIGKILL; the server is gone on return.
    void kill(int server);
    /// SIGSTOP: the kernel still accepts connections, nothing answers.
    void pause(int server);
    void resume(int server);
    /// Starts the server again with its data (stopping it first if it runs) and waits until it
    /// serves; without a majority only until it answers.
    void restart(int server);
    /// What the server writes fails from now on, as on a full disk, until it is restarted.
    void fill_disk(int server);
    /// Undoes all of the above and below; returns when one leads, the others follow, and all make
    /// sessions.
    void mend();

    /// Cuts the server off from the others, not from its clients. It answers reads and pings until
    /// it notices (`syncLimit` ticks: 2 s at a tick of 200 ms). Needs options.can_isolate. In
    /// containers the server loses its network.
    void isolate(int server);
    void heal(int server);
    /// What the servers reach each other through, for other faults. Needs options.has_links.
    [[nodiscard]] server_links& links();

    /// The answer to a four letter word; empty when there is none within the limit.
    [[nodiscard]] std::string four_letter_word(
        int server,
        std::string_view word,
        std::chrono::milliseconds limit = std::chrono::seconds(5)) const;

    [[nodiscard]] std::string srvr(int server) const { return four_letter_word(server, "srvr"); }

    /// Whether `exists` needs READ on the znode, as from 3.8.4 and 3.9.2 on.
    [[nodiscard]] bool exists_needs_read() const;

    /// "leader", "follower" or "standalone"; empty while the server does not serve.
    [[nodiscard]] std::string mode(int server) const;
    /// The leader (or the standalone server). Waits for an election; throws when 30 s brought none.
    [[nodiscard]] int leader() const;
    /// A server that follows. Waits likewise.
    [[nodiscard]] int follower() const;
    /// The server that has a connection of that session; 0 if none says so.
    [[nodiscard]] int server_of(std::int64_t session) const;
    /// How many packets the server has sent on its connection of that session; 0 if it has none.
    [[nodiscard]] int sent_to(std::int64_t session, int server) const;

private:
    enum class ownership {
        own,
        lent,  ///< to be broken, and not to be stopped
        elsewhere,
    };

    struct identity {
        ownership whose;
        std::string name;
        std::string connect_string;
        std::unique_ptr<server_links> links = nullptr;
    };

    explicit real_ensemble(identity which);

    [[nodiscard]] static identity started(const real_ensemble_options& options);
    [[nodiscard]] static identity found(const char* variable, ownership whose);
    [[nodiscard]] std::string connection_of(std::int64_t session, int server) const;
    [[nodiscard]] bool makes_sessions(int server) const;
    [[nodiscard]] bool is_whole() const;
    [[nodiscard]] int server_with_mode(std::string_view first, std::string_view second) const;
    void control(const char* verb, int server);
    void control(const std::string& command);

    ownership whose_;
    std::string name_;
    std::string connect_string_;
    std::vector<std::pair<std::string, std::string>> servers_;
    std::unique_ptr<server_links> links_;
};

}  // namespace latchkey::test
