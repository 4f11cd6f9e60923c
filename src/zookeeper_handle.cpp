#include "zookeeper_handle.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;

/// Completions of the C client do not say to which handle they belong.
thread_local zookeeper_handle* dispatching = nullptr;

const void* context_of(std::uint64_t id) noexcept {
    return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(id));
}

std::uint64_t id_of(const void* context) noexcept {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(context));
}

znode_stat copied(const Stat& s) noexcept {
    return {.czxid = s.czxid,
            .mzxid = s.mzxid,
            .ephemeral_owner = s.ephemeralOwner,
            .version = s.version,
            .cversion = s.cversion,
            .data_length = s.dataLength,
            .num_children = s.numChildren};
}

reply failed(int rc) {
    reply r;
    r.code = static_cast<result_code>(rc);
    return r;
}

int flags_of(create_mode mode) noexcept {
    switch (mode) {
        case create_mode::persistent:
            return ZOO_PERSISTENT;
        case create_mode::ephemeral:
            return ZOO_EPHEMERAL;
        case create_mode::persistent_sequential:
            return ZOO_PERSISTENT_SEQUENTIAL;
        case create_mode::ephemeral_sequential:
            return ZOO_EPHEMERAL_SEQUENTIAL;
        case create_mode::container:
            return ZOO_CONTAINER;
    }
    return ZOO_PERSISTENT;
}

/// The C client only reads through these pointers.
char* unconst(const std::string& s) noexcept {
    return const_cast<char*>(s.c_str());
}

class acl_view {
public:
    explicit acl_view(const acl& source) {
        entries_.reserve(source.size());
        for (const auto& e : source) {
            entries_.push_back({.perms = static_cast<std::int32_t>(e.allowed),
                                .id = {.scheme = unconst(e.scheme), .id = unconst(e.id)}});
        }
        vector_ = {.count = static_cast<std::int32_t>(entries_.size()), .data = entries_.data()};
    }

    acl_view(const acl_view&) = delete;
    acl_view& operator=(const acl_view&) = delete;

    ~acl_view() = default;

    [[nodiscard]] const ACL_vector* get() const noexcept { return &vector_; }

private:
    std::vector<ACL> entries_;
    ACL_vector vector_{};
};

int length_of(const std::string& s) noexcept {
    return static_cast<int>(s.size());  // acceptable() bounds it
}

void print_log(const char* message) {
    std::fprintf(stderr, "%s\n", message);
}

void discard_log(const char* /*message*/) {}

/// Returns the log callback; the level and the order of connecting are the C client's statics.
log_callback_fn configured_client() {
    static const log_callback_fn log = [] {
        const char* wanted = std::getenv("LATCHKEY_CLIENT_LOG");
        const bool on = wanted != nullptr && *wanted != '\0' && *wanted != '0';
        // 0 is off, though the enumeration has no name for it.
        zoo_set_debug_level(on ? ZOO_LOG_LEVEL_WARN : static_cast<ZooLogLevel>(0));
        // The list comes shuffled, and the C client would reseed the program's rand().
        zoo_deterministic_conn_order(1);
        return on ? &print_log : &discard_log;
    }();
    return log;
}

/// Any descriptor on which every read and write fails at once; kept for ever.
int dead_socket() {
    static const int fd = [] {
        const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (s < 0) {
            throw std::system_error(errno, std::generic_category(), "socket");
        }
        return s;
    }();
    return fd;
}

class dispatch_scope {
public:
    explicit dispatch_scope(zookeeper_handle* h) noexcept
        : before_(std::exchange(dispatching, h)) {}

    dispatch_scope(const dispatch_scope&) = delete;
    dispatch_scope& operator=(const dispatch_scope&) = delete;

    ~dispatch_scope() { dispatching = before_; }

private:
    zookeeper_handle* before_;
};

/// What the observer does must not disturb the cause of a failure, which the C client leaves in
/// errno.
class errno_kept {
public:
    errno_kept() noexcept : saved_(errno) {}

    errno_kept(const errno_kept&) = delete;
    errno_kept& operator=(const errno_kept&) = delete;

    ~errno_kept() { errno = saved_; }

private:
    int saved_;
};

}  // namespace

/// The C client writes here until the multi has completed.
struct zookeeper_handle::multi_buffers {
    std::uint64_t id = 0;
    std::vector<zoo_op_t> operations;
    std::vector<zoo_op_result_t> results;
    std::vector<Stat> stats;
    std::vector<std::string> paths;

    [[nodiscard]] reply answer(int rc) const {
        reply r = failed(rc);
        for (std::size_t i = 0; i < results.size(); ++i) {
            const auto& result = results[i];
            reply& one = r.results.emplace_back(failed(result.err));
            if (one.ok() && operations[i].type == ZOO_CREATE_OP && result.value != nullptr) {
                one.path = result.value;
            }
            if (one.ok() && result.stat != nullptr) {
                one.stat = copied(*result.stat);
            }
        }
        return r;
    }
};

/// The functions that the C client calls.
struct zookeeper_handle::trampolines {
    static void deliver(const void* context, reply answer) noexcept {
        const errno_kept guard;
        dispatching->observer_->on_reply(id_of(context), std::move(answer));
    }

    static void done(int rc, const void* context) noexcept { deliver(context, failed(rc)); }

    static void created(int rc, const char* path, const Stat* stat, const void* context) noexcept {
        reply r = failed(rc);
        if (r.ok() && path != nullptr && stat != nullptr) {
            r.path = path;
            r.stat = copied(*stat);
        }
        deliver(context, std::move(r));
    }

    static void got(
        int rc, const char* value, int length, const Stat* stat, const void* context) noexcept {
        reply r = failed(rc);
        if (r.ok() && stat != nullptr) {
            r.stat = copied(*stat);
            if (value != nullptr && length > 0) {
                r.data.assign(value, static_cast<std::size_t>(length));
            }
        }
        deliver(context, std::move(r));
    }

    static void stated(int rc, const Stat* stat, const void* context) noexcept {
        reply r = failed(rc);
        if (r.ok() && stat != nullptr) {
            r.stat = copied(*stat);
        }
        deliver(context, std::move(r));
    }

    static void listed(int rc, const String_vector* names, const void* context) noexcept {
        reply r = failed(rc);
        if (r.ok() && names != nullptr) {
            r.names.assign(names->data, names->data + names->count);
        }
        deliver(context, std::move(r));
    }

    static void synced(int rc, const char* /*path*/, const void* context) noexcept {
        deliver(context, failed(rc));
    }

    static void multi_done(int rc, const void* context) noexcept {
        auto& all = dispatching->multis_;
        const auto found = std::find_if(
            all.begin(), all.end(), [id = id_of(context)](const auto& m) { return m->id == id; });
        if (found != all.end()) {
            const auto finished = std::move(*found);
            all.erase(found);
            deliver(context, finished->answer(rc));
        }
    }

    static void session_changed(zhandle_t* /*handle*/,
                                int type,
                                int zk_state,
                                const char* /*path*/,
                                void* /*context*/) noexcept {
        const errno_kept guard;
        if (type == ZOO_SESSION_EVENT) {
            dispatching->observer_->on_state(known(zk_state));
        }
    }

    static void node_changed(zhandle_t* /*handle*/,
                             int type,
                             int /*zk_state*/,
                             const char* path,
                             void* /*context*/) noexcept {
        const errno_kept guard;
        // Session events come here as well, once for all watches.
        if (type == ZOO_DELETED_EVENT) {
            dispatching->observer_->on_watch(watch_event::deleted, path);
        } else if (type == ZOO_CHANGED_EVENT) {
            dispatching->observer_->on_watch(watch_event::changed, path);
        } else if (type == ZOO_CHILD_EVENT) {
            dispatching->observer_->on_watch(watch_event::children_changed, path);
        }
    }

    static state known(int zk_state) noexcept {
        if (zk_state == ZOO_CONNECTED_STATE) {
            return state::connected;
        }
        if (zk_state == ZOO_EXPIRED_SESSION_STATE) {
            return state::expired;
        }
        if (zk_state == ZOO_AUTH_FAILED_STATE) {
            return state::auth_failed;
        }
        if (zk_state == ZOO_CONNECTING_STATE || zk_state == ZOO_ASSOCIATING_STATE) {
            return state::connecting;
        }
        return state::disconnected;
    }
};

zookeeper_handle::zookeeper_handle(const std::string& servers,
                                   milliseconds timeout,
                                   const std::vector<session_options::identity>& identities,
                                   observer& o)
    : observer_(&o) {
    static_cast<void>(dead_socket());  // so that later nothing can fail
    const auto log = configured_client();
    const auto longest = milliseconds(std::numeric_limits<int>::max());
    handle_ = zookeeper_init2(servers.c_str(),
                              &trampolines::session_changed,
                              static_cast<int>(std::min(timeout, longest).count()),
                              nullptr,
                              nullptr,
                              ZOO_NO_LOG_CLIENTENV,
                              log);
    if (handle_ == nullptr) {
        throw std::system_error(errno, std::generic_category(), servers);
    }
    zoo_set_servers_resolution_delay(handle_, -1);
    for (const auto& identity : identities) {
        zoo_add_auth(handle_,
                     identity.scheme.c_str(),
                     identity.secret.data(),
                     length_of(identity.secret),
                     nullptr,
                     nullptr);
    }
}

zookeeper_handle::~zookeeper_handle() {
    const dispatch_scope scope(this);
    // With a connection the C client would send the end of the session and wait for the answer.
    if (current() == state::connecting || current() == state::connected) {
        fail();
    }
    zookeeper_close(handle_);
}

void zookeeper_handle::fail() noexcept {
    if (socket_ < 0) {
        return;
    }
    // Shutting the socket down would leave what has arrived to be read first.
    if (::dup3(dead_socket(), socket_, O_CLOEXEC) < 0) {
        ::shutdown(socket_, SHUT_RDWR);
    }
    process(true);
}

zookeeper_handle::state zookeeper_handle::current() const noexcept {
    return trampolines::known(zoo_state(handle_));
}

std::int64_t zookeeper_handle::session_id() const noexcept {
    return zoo_client_id(handle_)->client_id;
}

milliseconds zookeeper_handle::timeout() const noexcept {
    return milliseconds(zoo_recv_timeout(handle_));
}

std::string zookeeper_handle::server() const {
    return zoo_get_current_server(handle_);
}

zookeeper_handle::interest zookeeper_handle::next() noexcept {
    const dispatch_scope scope(this);
    int wanted = 0;
    timeval patience{};
    socket_ = -1;
    errno = 0;
    const bool failed = zookeeper_interest(handle_, &socket_, &wanted, &patience) != ZOK;
    if (failed) {
        last_failure_ = errno;
        socket_ = -1;
    }
    return {
        .failed = failed,
        .socket = socket_,
        .write = (wanted & ZOOKEEPER_WRITE) != 0,
        .patience = std::chrono::seconds(patience.tv_sec) + milliseconds(patience.tv_usec / 1000)};
}

bool zookeeper_handle::process(bool write) noexcept {
    const dispatch_scope scope(this);
    errno = 0;
    const int rc = zookeeper_process(handle_, ZOOKEEPER_READ | (write ? ZOOKEEPER_WRITE : 0));
    if (rc != ZOK && rc != ZNOTHING) {
        last_failure_ = errno;
    }
    return rc == ZOK;
}

result_code zookeeper_handle::send(std::uint64_t id, const request& r, bool watch) {
    const auto* path = r.path.c_str();
    const auto* context = context_of(id);
    const watcher_fn watcher = watch ? &trampolines::node_changed : nullptr;
    int rc = ZBADARGUMENTS;
    switch (r.what) {
        case request::kind::create:
            rc = zoo_acreate2(handle_,
                              path,
                              r.data.data(),
                              length_of(r.data),
                              acl_view(r.access).get(),
                              flags_of(r.mode),
                              &trampolines::created,
                              context);
            break;
        case request::kind::remove:
            rc = zoo_adelete(handle_, path, r.version, &trampolines::done, context);
            break;
        case request::kind::get:
            rc = zoo_awget(handle_, path, watcher, nullptr, &trampolines::got, context);
            break;
        case request::kind::exists:
            rc = zoo_aexists(handle_, path, 0, &trampolines::stated, context);
            break;
        case request::kind::children:
            rc = zoo_awget_children(handle_, path, watcher, nullptr, &trampolines::listed, context);
            break;
        case request::kind::set:
            rc = zoo_aset(handle_,
                          path,
                          r.data.data(),
                          length_of(r.data),
                          r.version,
                          &trampolines::stated,
                          context);
            break;
        case request::kind::sync:
            rc = zoo_async(handle_, path, &trampolines::synced, context);
            break;
        case request::kind::multi:
            rc = send_multi(id, r);
            break;
        case request::kind::check:
            break;
    }
    return static_cast<result_code>(rc);
}

int zookeeper_handle::send_multi(std::uint64_t id, const request& r) {
    // On a handle that is over the C client would crash.
    if (is_unrecoverable(handle_) != 0) {
        return ZINVALIDSTATE;
    }
    auto m = std::make_unique<multi_buffers>();
    const auto count = r.operations.size();
    m->id = id;
    m->operations.resize(count);
    m->results.resize(count);
    m->stats.resize(count);
    m->paths.resize(count);
    std::vector<std::unique_ptr<acl_view>> acls;
    constexpr std::size_t digits_and_end = 12;
    for (std::size_t i = 0; i < count; ++i) {
        const auto& one = r.operations[i];
        auto& op = m->operations[i];
        const auto* path = one.path.c_str();
        if (one.what == request::kind::create) {
            acls.push_back(std::make_unique<acl_view>(one.access));
            m->paths[i].resize(one.path.size() + digits_and_end);
            zoo_create_op_init(&op,
                               path,
                               one.data.data(),
                               length_of(one.data),
                               acls.back()->get(),
                               flags_of(one.mode),
                               m->paths[i].data(),
                               length_of(m->paths[i]));
        } else if (one.what == request::kind::remove) {
            zoo_delete_op_init(&op, path, one.version);
        } else if (one.what == request::kind::set) {
            zoo_set_op_init(
                &op, path, one.data.data(), length_of(one.data), one.version, &m->stats[i]);
        } else {
            zoo_check_op_init(&op, path, one.version);
        }
    }
    const int rc = zoo_amulti(handle_,
                              static_cast<int>(count),
                              m->operations.data(),
                              m->results.data(),
                              &trampolines::multi_done,
                              context_of(id));
    if (rc == ZOK) {
        multis_.push_back(std::move(m));
    }
    return rc;
}

}  // namespace latchkey
