#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/client.hpp>
#include <latchkey/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0::testing {

/// Faults that happen at random: probabilities, drawn from the ensemble's seed.
struct faults {
    double cut_before = 0;  ///< per request: it is lost with the connection
    double cut_after = 0;   ///< per request: it is applied; the answer is lost with the connection
    /// After every `interval`, each of the following happens with its probability.
    std::chrono::nanoseconds interval{};
    double cut = 0;      ///< one client's connection breaks; what is in flight is lost
    double suspend = 0;  ///< one client cannot connect for up to `lasting`
    double pause = 0;    ///< one client does not run, as after SIGSTOP, for up to `lasting`
    double expire = 0;   ///< one session ends
    double stop = 0;     ///< one server is killed and starts again within `lasting`
    double isolate = 0;  ///< one server is cut off from the others for up to `lasting`
    double lag = 0;      ///< one follower lags by up to `lasting`, for up to `lasting`
    std::chrono::nanoseconds lasting{};
};

/// Requests that servers received, and their watches.
struct counters {
    std::uint64_t creates = 0;
    std::uint64_t removes = 0;
    std::uint64_t gets = 0;
    std::uint64_t exists = 0;  ///< idle clients send them as a sign of life
    std::uint64_t children = 0;
    std::uint64_t sets = 0;
    std::uint64_t multis = 0;  ///< transactions that could change something
    std::uint64_t checks = 0;  ///< transactions of checks alone, as heartbeats are
    std::uint64_t syncs = 0;
    std::uint64_t watches_set = 0;   ///< by gets and children
    std::uint64_t watch_events = 0;  ///< sent to clients
    std::uint64_t bytes_in = 0;      ///< of these requests, as the C client sends them
    std::uint64_t bytes_out = 0;     ///< of their answers, and of the events
    bool operator==(const counters&) const = default;

    /// All requests except those that only keep sessions alive: `checks` and `exists`.
    [[nodiscard]] std::uint64_t requests() const noexcept {
        return creates + removes + gets + children + sets + multis + syncs;
    }
};

/// A ZooKeeper ensemble inside this process, for tests, with every fault on demand.
///
///     latchkey::testing::ensemble servers;
///     latchkey::client zk = servers.connect();
///     run_service(zk);
///     servers.expire(zk.session_id());    // does the service notice?
///
/// Each server applies transactions by itself, the leader ends sessions in whole ticks, a write
/// needs a quorum, and watches belong to one server and one connection, as with real servers. After
/// hold::release() another client may still find a lock taken: a test calls release_and_wait().
///
/// *Threaded*, it runs by itself. Any thread may call any member, and calls act at once. *Stepped*,
/// nothing happens outside step(), run_for() and run_until(): on one thread, on a virtual clock.
/// The same seed and calls give the same run. Close the clients before the ensemble is destroyed.
class LATCHKEY_EXPORT ensemble {
public:
    enum class mode : std::uint8_t { threaded, stepped };
    enum class when : std::uint8_t { before, after };
    enum class request_kind : std::uint8_t {
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
        duration jitter{};           ///< at most this much more, drawn for each message
        duration between_servers{};  ///< one way, between servers
        duration tick = std::chrono::seconds(2);
        duration min_session_timeout{};  ///< 0: two ticks
        duration max_session_timeout{};  ///< 0: twenty ticks
        int sync_limit = 5;  ///< ticks until a leader and a silent follower give each other up
        duration election = std::chrono::milliseconds(200);
        duration container_interval = std::chrono::minutes(1);  ///< 0: only reap_containers()
        std::size_t max_request = 0xfffff;  ///< bytes, as `jute.maxbuffer`; more: it hangs up
        bool exists_needs_read = true;      ///< false: no permission, as before 3.8.4 and 3.9.2
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

    /// The connect string with the servers' names: `server-0:2181,server-1:2181,...`
    [[nodiscard]] std::string servers() const;

    /// Makes a client of this ensemble, as client::connect() makes one of real servers. Each is
    /// like a program of its own. Stepped, its blocking calls fail (errc::would_deadlock), and
    /// close() does not wait. `how.tls` has no effect: no file of it is read.
    [[nodiscard]] client connect(client_options how = {}, const std::string& chroot = {});

    /// Lets other programs use this ensemble with any ZooKeeper client. Server 0 listens on `port`
    /// of the numeric `address`, server 1 on `port + 1`, and so on; port 0 means any free ports.
    /// Returns the connect string. Threaded only. Throws latchkey::error if a port is not free.
    ///
    /// The servers listen until the ensemble is destroyed, on a thread of their own. A stopped
    /// server hangs up on its clients. cut() and expire() affect such clients as well; move(),
    /// suspend(), black_hole(), pause() and replace() do not. Access lists alone protect znodes.
    std::string serve(const std::string& address = "127.0.0.1", std::uint16_t port = 0);

    // Time.
    [[nodiscard]] duration now() const noexcept;  ///< since a fixed point of the ensemble's clock
    bool step();                                  ///< runs the next event; stepped only
    void run_for(duration d);                     ///< threaded: sleeps
    bool run_until(const std::function<bool()>& done, duration limit);
    /// Lets `d` pass at once, with everything that happens in that time.
    void advance(duration d);
    [[nodiscard]] std::uint64_t trace() const;  ///< a hash of the run so far; stepped

    // Clients, by the id of their session. Ids that do not exist any more are ignored.
    [[nodiscard]] std::vector<session_info> sessions() const;
    void expire(std::int64_t session);  ///< they end it: session_expired, or znode_deleted before
    void cut(std::int64_t session);     ///< its connection breaks; the client may come back
    void move(std::int64_t session, int server);  ///< the same, and it comes back to this server
    void suspend(std::int64_t session);           ///< it breaks, and is refused until resume()
    void black_hole(std::int64_t session);  ///< no message arrives, either way, until resume()
    void confine(std::int64_t session, int server);  ///< it reaches only this server until resume()
    /// From now on the client's clock runs `rate` times as fast as the ensemble's; from 0.5 to 2.
    void set_clock_rate(std::int64_t session, double rate);
    /// The client does not run until resume(), as after SIGSTOP. Threaded, its callbacks still run.
    void pause(std::int64_t session);
    void resume(std::int64_t session);
    /// At its next connection the servers hand out a new session, without a notice.
    void replace(std::int64_t session);

    // Servers, by index.
    [[nodiscard]] int leader() const;  ///< the leader with the newest epoch; -1 if there is none
    void stop_server(int index);       ///< kills it; its state is kept
    void start_server(int index);
    void pause_server(int index);  ///< as by SIGSTOP
    void resume_server(int index);
    /// Cuts it off from the other servers, not from its clients. It answers reads and pings until
    /// it or its leader has not heard from the other for `sync_limit` ticks.
    void isolate(int index);
    void heal(int index);
    void lag(int index, duration by);  ///< its leader's messages arrive late; 0 ends it
    void set_server_clock_rate(int index, double rate);  ///< as set_clock_rate()

    // Requests.
    /// The next `n` requests of this kind, of one session or of any (0), end with a broken
    /// connection. The client gets `code` for them and for everything else in flight. An `n` of 0
    /// cancels earlier calls for this kind and session, those of refuse_next() too.
    void fail_next(request_kind what, when w, std::int64_t session = 0, int n = 1, int code = -4);
    /// The next `n` requests get one of ZooKeeper's codes as the answer: `before` they are
    /// applied, so that they are not, or `after`.
    void refuse_next(
        request_kind what, int code, std::int64_t session = 0, int n = 1, when w = when::before);
    /// How many of these faults have not met a request yet.
    [[nodiscard]] std::size_t faults_to_come() const;
    /// Random faults from now on; `{}` ends them. Faults that have begun still end in time.
    void inject(const faults& rates);

    // The operator, whom no access control list binds. Threaded, the calls return when all servers
    // within reach have applied them. They throw latchkey::error if there is no leader.
    std::string create(const std::string& path, const std::string& data = {});
    void remove(const std::string& path);
    void set(const std::string& path, const std::string& data);
    [[nodiscard]] std::optional<znode> get(const std::string& path) const;
    [[nodiscard]] bool exists(const std::string& path) const;
    [[nodiscard]] std::vector<std::string> children(const std::string& path) const;  ///< sorted
    void set_acl(const std::string& path, const acl& access);
    void set_sequence(const std::string& path, std::int32_t next);  ///< of its next child
    void reap_containers();

    // What the servers have counted.
    [[nodiscard]] counters count() const;
    [[nodiscard]] counters count(std::int64_t session) const;
    void reset_counters();
    [[nodiscard]] std::size_t open_watches() const;

private:
    friend struct ensemble_access;
    struct LATCHKEY_HIDDEN state;
    std::unique_ptr<state> state_;
};

}  // namespace latchkey::inline v0::testing
