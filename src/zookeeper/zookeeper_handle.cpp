#include "zookeeper/zookeeper_handle.hpp"

#include "loop/scoped_restore.hpp"
#include "zookeeper/broken_socket.hpp"
#include "zookeeper/client_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

namespace latchkey::inline v0 {
namespace {

using std::chrono::milliseconds;

/// Completions of the C client do not say which handle they belong to.
thread_local zookeeper_handle* dispatching = nullptr;

const void* context_of(std::uint64_t id) noexcept {
    return reinterpret_cast<const void*>(id);  // NOLINT(performance-no-int-to-ptr): no pointer
}

std::uint64_t id_of(const void* context) noexcept {
    return reinterpret_cast<std::uint64_t>(context);
}

server_stat copied(const Stat& s) noexcept {
    return {.czxid = s.czxid,
            .mzxid = s.mzxid,
            .pzxid = s.pzxid,
            .ctime = s.ctime,
            .mtime = s.mtime,
            .ephemeral_owner = s.ephemeralOwner,
            .version = s.version,
            .cversion = s.cversion,
            .aversion = s.aversion,
            .data_length = s.dataLength,
            .num_children = s.numChildren};
}

reply reply_of(int rc, const Stat* stat = nullptr) {
    reply r{.code = static_cast<result_code>(rc)};
    if (r.ok() && stat != nullptr) {
        r.stat = copied(*stat);
    }
    return r;
}

int flags_of(create_mode mode) noexcept {
    return static_cast<int>(mode);  // in the protocol's order
}

/// The C client only reads through these pointers.
char* unconst(const std::string& s) noexcept {
    return const_cast<char*>(s.c_str());
}

std::vector<ACL> entries_of(const acl& source) {
    std::vector<ACL> entries;
    entries.reserve(source.size());
    for (const auto& e : source) {
        entries.push_back({.perms = static_cast<std::int32_t>(e.allowed),
                           .id = {.scheme = unconst(e.scheme), .id = unconst(e.id)}});
    }
    return entries;
}

ACL_vector view_of(std::vector<ACL>& entries) noexcept {
    return {.count = static_cast<std::int32_t>(entries.size()), .data = entries.data()};
}

int length_of(const std::string& s) noexcept {
    return static_cast<int>(s.size());  // acceptable() bounds it
}

}  // namespace

/// The C client writes here until the multi has completed.
struct zookeeper_handle::multi_buffers {
    std::uint64_t id;
    std::vector<zoo_op_t> operations;
    std::vector<zoo_op_result_t> results;
    std::vector<Stat> stats;
    std::vector<std::string> paths;
    std::vector<std::vector<ACL>> entries;
    std::vector<ACL_vector> access;

    /// `source` must live until the request has been given to the C client.
    multi_buffers(std::uint64_t number, const std::vector<request>& source)
        : id(number),
          operations(source.size()),
          results(source.size()),
          stats(source.size()),
          paths(source.size()),
          entries(source.size()),
          access(source.size()) {
        for (std::size_t i = 0; i < source.size(); ++i) {
            fill(i, source[i]);
        }
    }

    void fill(std::size_t i, const request& r) {
        constexpr std::size_t digits_and_end = 12;
        auto* op = &operations[i];
        const char* path = r.path.c_str();
        const char* data = r.data.data();
        const int length = length_of(r.data);
        if (r.what == request::kind::create) {
            entries[i] = entries_of(r.access);
            access[i] = view_of(entries[i]);
            paths[i].resize(r.path.size() + digits_and_end);
            char* made = paths[i].data();
            const int size = length_of(paths[i]);
            zoo_create_op_init(op, path, data, length, &access[i], flags_of(r.mode), made, size);
        } else if (r.what == request::kind::remove) {
            zoo_delete_op_init(op, path, r.version);
        } else if (r.what == request::kind::set) {
            zoo_set_op_init(op, path, data, length, r.version, &stats[i]);
        } else {
            zoo_check_op_init(op, path, r.version);
        }
    }

    [[nodiscard]] reply answer(int rc) const {
        reply r = reply_of(rc);
        for (std::size_t i = 0; i < results.size(); ++i) {
            const auto& result = results[i];
            reply& one = r.results.emplace_back(reply_of(result.err, result.stat));
            if (one.ok() && operations[i].type == ZOO_CREATE_OP && result.value != nullptr) {
                one.path = result.value;
            }
        }
        return r;
    }
};

/// The functions that the C client calls.
struct zookeeper_handle::trampolines {
    static void deliver(const void* context, reply answer) noexcept {
        const scoped_restore cause(errno);  // the errno of a failure, for process()
        dispatching->observer_->on_reply(id_of(context), std::move(answer));
    }

    static void done(int rc, const void* context) noexcept { deliver(context, reply_of(rc)); }

    static void stated(int rc, const Stat* stat, const void* context) noexcept {
        deliver(context, reply_of(rc, stat));
    }

    static void created(int rc, const char* path, const Stat* stat, const void* context) noexcept {
        reply r = reply_of(rc, stat);
        if (r.ok() && path != nullptr) {
            r.path = path;
        }
        deliver(context, std::move(r));
    }

    static void got(
        int rc, const char* value, int length, const Stat* stat, const void* context) noexcept {
        reply r = reply_of(rc, stat);
        if (r.ok() && length > 0) {  // -1: created without data
            r.data.assign(value, static_cast<std::size_t>(length));
        }
        deliver(context, std::move(r));
    }

    static void listed(int rc, const String_vector* names, const Stat*, const void* id) noexcept {
        reply r = reply_of(rc);
        if (r.ok() && names != nullptr) {
            r.names.assign(names->data, names->data + names->count);
        }
        deliver(id, std::move(r));
    }

    static void allowed(int rc, ACL_vector* list, Stat*, const void* context) noexcept {
        reply r = reply_of(rc);
        for (int i = 0; list != nullptr && i < list->count; ++i) {
            const auto& [permissions, id] = list->data[i];
            r.access.push_back({id.scheme, id.id, static_cast<permission>(permissions)});
        }
        deliver(context, std::move(r));
    }

    static void synced(int rc, const char* /*path*/, const void* context) noexcept {
        deliver(context, reply_of(rc));
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

    static void session_changed(zhandle_t*, int type, int now, const char*, void*) noexcept {
        const scoped_restore cause(errno);
        if (type == ZOO_SESSION_EVENT) {
            dispatching->observer_->on_state(known(now));
        }
    }

    static void node_changed(zhandle_t*, int type, int, const char* path, void*) noexcept {
        const scoped_restore cause(errno);
        // Session events come here as well, once for all watches.
        if (type == ZOO_DELETED_EVENT) {
            dispatching->observer_->on_watch(watch_event::deleted, path);
        } else if (type == ZOO_CHANGED_EVENT) {
            dispatching->observer_->on_watch(watch_event::changed, path);
        } else if (type == ZOO_CHILD_EVENT) {
            dispatching->observer_->on_watch(watch_event::children_changed, path);
        }
    }

    static void logged(const char* message) noexcept {
        if (client_log_wanted()) {
            std::fprintf(stderr, "%s\n", message);
        }
    }

    static state known(int zk_state) noexcept {
        const bool begins = zk_state == ZOO_CONNECTING_STATE || zk_state == ZOO_ASSOCIATING_STATE;
        return zk_state == ZOO_CONNECTED_STATE         ? state::connected
               : zk_state == ZOO_EXPIRED_SESSION_STATE ? state::expired
               : zk_state == ZOO_AUTH_FAILED_STATE     ? state::auth_failed
               : begins                                ? state::connecting
                                                       : state::disconnected;
    }
};

zookeeper_handle::zookeeper_handle(const opening& how, observer& o) : observer_(&o) {
    static_cast<void>(broken_socket());  // so that nothing can fail later
    // Statics of the C client, with the same values each time.
    zoo_set_debug_level(client_log_wanted() ? ZOO_LOG_LEVEL_WARN : ZOO_LOG_LEVEL_ERROR);
    zoo_deterministic_conn_order(1);  // otherwise it would reseed the program's rand()
    const scoped_restore scope(dispatching, this);
    const auto longest = milliseconds(std::numeric_limits<int>::max());
    const auto wanted = static_cast<int>(std::min(how.timeout, longest).count());
    const auto watcher = &trampolines::session_changed;
    const auto log = &trampolines::logged;
    clientid_t session{.client_id = how.session.id, .passwd = {}};
    std::copy(how.session.password.begin(), how.session.password.end(), session.passwd);
    const clientid_t* known = how.session.id != 0 ? &session : nullptr;
    const auto flags = ZOO_NO_LOG_CLIENTENV;
    handle_ = zookeeper_init2(how.server.c_str(), watcher, wanted, known, nullptr, flags, log);
    if (handle_ == nullptr) {
        throw std::system_error(errno, std::generic_category(), how.server);
    }
    zoo_set_servers_resolution_delay(handle_, -1);
    for (const auto& [scheme, secret] : how.identities) {
        const int length = length_of(secret);
        zoo_add_auth(handle_, scheme.c_str(), secret.data(), length, nullptr, nullptr);
    }
}

zookeeper_handle::~zookeeper_handle() {
    const scoped_restore scope(dispatching, this);
    // Otherwise it has closed its socket, whose number may be used again.
    const bool open = current() == state::connecting || current() == state::connected;
    if (open) {
        // With a connection, it would send the end of the session and wait for the answer. Shutting
        // the socket down would leave what has arrived to be read first.
        if (::dup3(broken_socket(), socket_, O_CLOEXEC) < 0) {
            ::shutdown(socket_, SHUT_RDWR);
        }
        process(true, true);
    }
    zookeeper_close(handle_);
}

zookeeper_handle::state zookeeper_handle::current() const noexcept {
    return trampolines::known(zoo_state(handle_));
}

bool zookeeper_handle::asked_for_session() const noexcept {
    return zoo_state(handle_) == ZOO_ASSOCIATING_STATE;
}

session_key zookeeper_handle::session() const noexcept {
    const clientid_t& known = *zoo_client_id(handle_);
    session_key key{.id = known.client_id, .password = {}};
    std::copy(std::begin(known.passwd), std::end(known.passwd), key.password.begin());
    return key;
}

milliseconds zookeeper_handle::timeout() const noexcept {
    return milliseconds(zoo_recv_timeout(handle_));
}

zookeeper_handle::interest zookeeper_handle::next() noexcept {
    const scoped_restore scope(dispatching, this);
    int wanted = 0;
    timeval patience{};
    socket_ = -1;
    errno = 0;
    if (zookeeper_interest(handle_, &socket_, &wanted, &patience) != ZOK) {
        last_failure_ = errno != 0 ? errno : ETIMEDOUT;
        socket_ = -1;
    }
    return {
        .socket = socket_,
        .write = (wanted & ZOOKEEPER_WRITE) != 0,
        .patience = std::chrono::seconds(patience.tv_sec) + milliseconds(patience.tv_usec / 1000)};
}

bool zookeeper_handle::process(bool read, bool write) noexcept {
    const scoped_restore scope(dispatching, this);
    errno = 0;
    const int rc =
        zookeeper_process(handle_, (read ? ZOOKEEPER_READ : 0) | (write ? ZOOKEEPER_WRITE : 0));
    if (rc != ZOK && rc != ZNOTHING) {
        last_failure_ = errno;
    }
    return rc == ZOK;
}

result_code zookeeper_handle::send(std::uint64_t id, const request& r, bool watch) {
    return static_cast<result_code>(send_by_kind(id, r, watch));
}

int zookeeper_handle::send_by_kind(std::uint64_t id, const request& r, bool watch) {
    using to = trampolines;
    auto* const h = handle_;
    const char* path = r.path.c_str();
    const char* data = r.data.data();
    const int length = length_of(r.data);
    const void* context = context_of(id);
    const watcher_fn watcher = watch ? &to::node_changed : nullptr;
    switch (r.what) {
        case request::kind::create: {
            auto entries = entries_of(r.access);
            const auto access = view_of(entries);
            const int mode = flags_of(r.mode);
            return zoo_acreate2(h, path, data, length, &access, mode, &to::created, context);
        }
        case request::kind::remove:
            return zoo_adelete(h, path, r.version, &to::done, context);
        case request::kind::get:
            return zoo_awget(h, path, watcher, nullptr, &to::got, context);
        case request::kind::exists:
            return zoo_aexists(h, path, 0, &to::stated, context);
        case request::kind::children:
            return zoo_awget_children2(h, path, watcher, nullptr, &to::listed, context);
        case request::kind::get_acl:
            return zoo_aget_acl(h, path, &to::allowed, context);
        case request::kind::set:
            return zoo_aset(h, path, data, length, r.version, &to::stated, context);
        case request::kind::sync:
            return zoo_async(h, path, &to::synced, context);
        case request::kind::multi:
            return send_multi(id, r);
        default:
            return ZBADARGUMENTS;
    }
}

int zookeeper_handle::send_multi(std::uint64_t id, const request& r) {
    if (is_unrecoverable(handle_) != 0) {
        return ZINVALIDSTATE;  // the C client would crash on a handle that is over
    }
    auto m = std::make_unique<multi_buffers>(id, r.operations);
    const auto count = static_cast<int>(m->operations.size());
    const auto* operations = m->operations.data();
    const auto done = &trampolines::multi_done;
    const int rc = zoo_amulti(handle_, count, operations, m->results.data(), done, context_of(id));
    if (rc == ZOK) {
        multis_.push_back(std::move(m));
    }
    return rc;
}

}  // namespace latchkey::inline v0
