#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/client.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::testing {

/// How often things go wrong by themselves: probabilities, drawn from the ensemble's seed.
struct faults {
    double cut_before = 0;  ///< a request: the connection breaks before a server acts on it
    double cut_after = 0;   ///< a request: it is done, and the connection breaks before the answer
    /// One of the following happens every `interval`, each with its probability.
    std::chrono::nanoseconds interval{};
    double cut = 0;      ///< one client's connection breaks, with what is on its way
    double suspend = 0;  ///< one client cannot connect for up to `lasting`
    double pause = 0;    ///< one client is stopped, as by SIGSTOP, for up to `lasting`
    double expire = 0;   ///< one session ends
    double stop = 0;     ///< one server is killed and comes back within `lasting`
    double isolate = 0;  ///< one server is cut off from the others for up to `lasting`
    double lag = 0;      ///< one follower is late by up to `lasting`, for up to `lasting`
    std::chrono::nanoseconds lasting{};
};

/// Requests that servers received, and what they did with watches.
struct counters {
    std::uint64_t creates = 0;
    std::uint64_t removes = 0;
    std::uint64_t gets = 0;
    std::uint64_t exists = 0;  ///< as those by which an idle client keeps in touch
    std::uint64_t children = 0;
    std::uint64_t sets = 0;
    std::uint64_t multis = 0;  ///< that could change something
    std::uint64_t checks = 0;  ///< multis of nothing but checks, as heartbeats are
    std::uint64_t syncs = 0;
    std::uint64_t watches_set = 0;   ///< by gets and children
    std::uint64_t watch_events = 0;  ///< sent to clients

    bool operator==(const counters&) const = default;

    /// All requests but those that clients send for their sessions' sake: `checks` and `exists`.
    [[nodiscard]] std::uint64_t requests() const noexcept {
        return creates + removes + gets + children + sets + multis + syncs;
    }
};

/// A ZooKeeper ensemble inside this process, for tests: the same answers, and every fault on
/// demand.
///
/// Its servers have their own applied state, sessions expire at the leader in whole ticks, a
/// request needs a quorum, watches belong to a server and a connection. What a client sees is what
/// the real servers would show it; the network and the clock are the ensemble's.
///
/// *Threaded*, it runs by itself; all members may be called on any thread and act at once.
/// *Stepped*, nothing happens but inside step(), run_for() and run_until(), on one thread, on a
/// virtual clock: the same seed and calls give the same run, event by event. Destroyed, its servers
/// are gone for good; clients should be closed before.
class ensemble {
public:
    enum class mode : std::uint8_t { threaded, stepped };
    enum class when : std::uint8_t { before, after };
    enum class operation : std::uint8_t {
        create,
        remove,
        get,
        exists,
        children,
        set,
        multi,
        sync,
        any
    };
    using duration = std::chrono::nanoseconds;

    struct options {
        int servers = 3;
        ensemble::mode mode = mode::threaded;
        std::uint64_t seed = 1;
        duration one_way = std::chrono::microseconds(100);  ///< between a client and a server
        duration jitter{};           ///< up to this much more, drawn for each message
        duration between_servers{};  ///< one way, between servers
        duration tick = std::chrono::seconds(2);
        duration min_session_timeout{};  ///< 0: two ticks
        duration max_session_timeout{};  ///< 0: twenty ticks
        int sync_limit = 5;              ///< ticks after which a leader and a silent follower part
        duration election = std::chrono::milliseconds(200);
        duration container_interval = std::chrono::minutes(1);  ///< 0: only reap_containers()
        std::size_t max_request = 0xfffff;  ///< bytes, as `jute.maxbuffer`; above, it hangs up
    };

    struct session_info {
        std::int64_t id = 0;
        bool alive = false;      ///< the leader has not ended it
        bool connected = false;  ///< to `server`, as that server sees it
        int server = -1;
    };

    struct znode {
        std::string data;
        std::int64_t czxid = 0;
        std::int64_t mzxid = 0;
        std::int64_t ephemeral_owner = 0;
        std::int32_t version = 0;
        std::int32_t cversion = 0;
    };

    ensemble();
    explicit ensemble(const options& how);
    ensemble(const ensemble&) = delete;
    ensemble& operator=(const ensemble&) = delete;
    ~ensemble();

    /// The servers' names, as a connect string: `server-0:2181,server-1:2181,...`
    [[nodiscard]] std::string servers() const;

    /// A client of this ensemble, as client::connect() makes one of real servers; each is like a
    /// program of its own. Stepped, its blocking calls are refused (errc::would_deadlock), and
    /// close() does not wait.
    [[nodiscard]] client connect(client_options how = {}, const std::string& chroot = {});

    /// Lets other programs use this ensemble with any ZooKeeper client: server 0 listens on `port`
    /// of `address` (numeric), server 1 on `port + 1`, and so on; with port 0 on any free ports.
    /// Returns the connect string. Threaded only. Throws latchkey::error if a port is not free.
    ///
    /// The servers listen until the ensemble is destroyed, on a thread of their own. A server that
    /// is stopped hangs up on its clients. cut() and expire() affect such clients as well; move(),
    /// suspend(), black_hole(), pause() and replace() do not. Anyone who reaches the ports can do
    /// everything that access control lists do not forbid.
    std::string serve(const std::string& address = "127.0.0.1", std::uint16_t port = 0);

    // Time.
    [[nodiscard]] duration now() const noexcept;  ///< since a fixed point of the ensemble's clock
    bool step();                                  ///< the next event; stepped only
    void run_for(duration d);                     ///< threaded: sleeps
    bool run_until(const std::function<bool()>& done, duration limit);
    /// Lets `d` pass at once, with all that happens meanwhile.
    void advance(duration d);
    [[nodiscard]] std::uint64_t trace() const;  ///< a hash of the run so far; stepped

    // Clients, by the id of their session. Those that do not exist any more are ignored.
    [[nodiscard]] std::vector<session_info> sessions() const;
    void expire(std::int64_t session);  ///< the servers end it now
    void cut(std::int64_t session);     ///< its connection breaks; the client may come back
    void move(std::int64_t session, int server);  ///< the same, and it comes back to this server
    void suspend(std::int64_t session);           ///< breaks, and is refused until resume()
    void black_hole(std::int64_t session);  ///< nothing arrives in either direction until resume()
    void confine(std::int64_t session, int server);  ///< reaches only this server until resume()
    /// From now on the client's clock runs that many times as fast as the ensemble's, 0.5 to 2.
    void set_clock_rate(std::int64_t session, double rate);
    /// The client does not run until resume(), like SIGSTOP; threaded, its callbacks do.
    void pause(std::int64_t session);
    void resume(std::int64_t session);
    /// At its next connection the servers hand out a new session, without a word.
    void replace(std::int64_t session);

    // Servers, by index.
    [[nodiscard]] int leader() const;  ///< the newest; -1 if there is none
    void stop_server(int index);       ///< killed, with its state kept
    void start_server(int index);
    void pause_server(int index);  ///< like SIGSTOP
    void resume_server(int index);
    /// Cuts it off from the other servers, not from its clients: it answers reads and pings, until
    /// it or its leader has been without the other for `sync_limit` ticks.
    void isolate(int index);
    void heal(int index);
    void lag(int index, duration by);  ///< what its leader tells it comes late; 0 ends it
    void set_server_clock_rate(int index, double rate);  ///< as set_clock_rate()

    // Requests.
    /// The next `count` requests of the kind, of one session or of any, end with a broken
    /// connection. The client is told `code` of them and of what else was on its way. A count of 0
    /// ends what was asked for before, of the same kind and session: of refusals, too.
    void fail_next(operation what, when w, std::int64_t session = 0, int count = 1, int code = -4);
    /// They are answered with one of ZooKeeper's codes: not done, or although they are done.
    void refuse_next(
        operation what, int code, std::int64_t session = 0, int count = 1, when w = when::before);
    /// How many of those have not met a request yet.
    [[nodiscard]] std::size_t faults_to_come() const;
    void inject(
        const faults& rates);  ///< from now on; `{}` ends it, and what has begun ends itself

    // The operator, whom no access control list binds. Writes are proposed at once; threaded, they
    // return when all servers within reach have them. They throw latchkey::error without a leader.
    std::string create(const std::string& path, const std::string& data = {});
    void remove(const std::string& path);
    void set(const std::string& path, const std::string& data);
    [[nodiscard]] std::optional<znode> get(const std::string& path) const;
    [[nodiscard]] bool exists(const std::string& path) const;
    [[nodiscard]] std::vector<std::string> children(const std::string& path) const;  ///< sorted
    void set_acl(const std::string& path, const acl& access);
    void set_sequence(const std::string& path, std::int32_t next);  ///< of its next child
    void reap_containers();

    // What the servers counted.
    [[nodiscard]] counters count() const;
    [[nodiscard]] counters count(std::int64_t session) const;
    void reset_counters();
    [[nodiscard]] std::size_t open_watches() const;

private:
    friend struct ensemble_access;
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace latchkey::testing
