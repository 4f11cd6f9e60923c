#include <latchkey/client.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "client/public_stat.hpp"
#include "client/user_call.hpp"
#include "session/connect_string.hpp"
#include "session/failure.hpp"
#include "session/runtime.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::inline v0 {
const char* to_string(connection_state s) noexcept {
    switch (s) {
        case connection_state::connecting:
            return "connecting";
        case connection_state::connected:
            return "connected";
        case connection_state::suspended:
            return "suspended";
        case connection_state::reconnected:
            return "reconnected";
        case connection_state::lost:
            return "lost";
        case connection_state::closed:
            return "closed";
    }
    return "unknown";
}

client client::connect(std::string_view servers, client_options options) {
    auto target = parse_connect_string(servers);
    auto surroundings = process_runtime(options.tls);
    return client(
        client_core::start(std::move(surroundings), std::move(target), std::move(options)));
}

/// What the copies of a client share: the last one closes it.
class client::owner {
public:
    explicit owner(std::shared_ptr<client_core> c) noexcept : core(std::move(c)) {}

    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;

    ~owner() { close(); }

    void close() const noexcept {
        if (!core->forked()) {
            core->close();
        }
    }

    const std::shared_ptr<client_core> core;
};

client::client(std::shared_ptr<client_core> core)
    : owner_(std::make_shared<owner>(std::move(core))) {}

std::shared_ptr<client_core> client_core::of(const client& c) {
    const auto shared = c.owner_.get();
    if (!shared) {
        throw error(errc::closed, "this client was moved from: use the one it was moved to");
    }
    return shared->core;
}

/// Null if it was moved from, and in a forked child.
std::shared_ptr<client_core> client::usable() const noexcept {
    const auto shared = owner_.get();
    return shared && !shared->core->forked() ? shared->core : nullptr;
}

connection_state client::state() const noexcept {
    const auto core = usable();
    return core ? core->state() : connection_state::closed;
}

bool client::connected_within(std::chrono::nanoseconds timeout,
                              std::stop_token stop,
                              std::error_code& ec) const {
    return report(ec, [&] { return client_core::of(*this)->wait_connected(timeout, stop); });
}

std::string client::last_error() const {
    const auto shared = owner_.get();
    if (!shared) {
        return "moved from";
    }
    return shared->core->forked() ? "forked" : shared->core->trouble();
}

std::int64_t client::session_id() const noexcept {
    const auto core = usable();
    return core ? core->session_id() : 0;
}

std::chrono::milliseconds client::session_timeout() const noexcept {
    const auto shared = owner_.get();
    return shared ? shared->core->session_timeout() : std::chrono::milliseconds::zero();
}

std::chrono::nanoseconds client::callback_running_for() const noexcept {
    const auto core = usable();
    return core ? core->callbacks().running_for() : std::chrono::nanoseconds::zero();
}

client_stats client::stats() const noexcept {
    const auto core = usable();
    return core ? core->stats() : client_stats{.state = connection_state::closed};
}

std::function<client_stats()> client::stats_reader() const {
    return [core = std::weak_ptr(client_core::of(*this))] {
        const auto alive = core.lock();
        return alive && !alive->forked() ? alive->stats()
                                         : client_stats{.state = connection_state::closed};
    };
}

subscription client::on_change(state_listener listener) const {
    const auto& core = client_core::of(*this);
    return core->forked() ? subscription()
                          : subscription(core->listeners().add(std::move(listener)));
}

// ---- reading ----

namespace {

/// One connection carries the requests in the order in which they were submitted, and a server
/// answers a session's requests in that order, a read behind a write not before it has applied the
/// write (ZooKeeper's CommitProcessor). So a read behind a write shows everything that was
/// committed before the write. A connection that breaks between the two is no exception: the next
/// one begins with such a write of its own (session_keeper).
std::vector<request> questions(request read, read_from from) {
    if (read.path != "/") {
        check_path(read.path);
    }
    std::vector<request> all;
    if (from == read_from::quorum) {
        all.push_back(request::barrier());
    }
    all.push_back(std::move(read));
    return all;
}

using servers_time = decltype(znode_stat::created);

servers_time time_of(std::int64_t milliseconds_since_1970) {
    return servers_time(std::chrono::duration_cast<servers_time::duration>(
        std::chrono::milliseconds(milliseconds_since_1970)));
}

}  // namespace

znode_stat public_stat(const server_stat& s) {
    return {.czxid = s.czxid,
            .mzxid = s.mzxid,
            .pzxid = s.pzxid,
            .version = s.version,
            .child_version = s.cversion,
            .owner = s.ephemeral_owner,
            .data_size = s.data_length,
            .child_count = s.num_children,
            .created = time_of(s.ctime),
            .modified = time_of(s.mtime)};
}

namespace {

std::optional<znode> znode_in(reply r) {
    if (!r.ok()) {
        return std::nullopt;
    }
    return znode{std::move(r.data), public_stat(r.stat)};
}

std::optional<znode_stat> stat_in(const reply& r) {
    return r.ok() ? std::optional(public_stat(r.stat)) : std::nullopt;
}

std::vector<std::string> sorted_names_in(reply r) {
    std::sort(r.names.begin(), r.names.end());
    return std::move(r.names);
}

/// A znode that does not exist is an answer, except to the question for its children.
failure failure_of_read(const request& asked, const reply& r) {
    const bool answered =
        r.ok() || (r.code == result_code::no_node && asked.what != request::kind::children);
    return answered ? failure() : failure_of(r.code, asked.path, asked.what);
}

reply read_and_wait(client_core& core, request read, read_from from) {
    const std::vector<request> all = questions(std::move(read), from);
    reply r = std::move(blocking_read(core, all).back());
    failure_of_read(all.back(), r).raise();
    return r;
}

template <class Value, class Convert>
void read_and_tell(const std::shared_ptr<client_core>& core,
                   const request& read,
                   read_from from,
                   move_only_function<void(std::error_code, Value)> handler,
                   Convert convert) {
    core->check_not_forked();
    const auto done = core->callbacks().once(std::move(handler));
    try {
        start_read(core,
                   questions(read, from),
                   [read, convert, done](failure why, std::vector<reply> replies) {
                       if (!why) {
                           why = failure_of_read(read, replies.back());
                       }
                       done(why.code, why ? Value() : convert(std::move(replies.back())));
                   });
    } catch (const error& e) {
        done(e.code(), Value());
    }
}

}  // namespace

std::optional<znode> client::get(std::string path, read_from from, std::error_code& ec) const {
    return report(ec, [&] {
        return znode_in(
            read_and_wait(*client_core::of(*this), request::get(std::move(path)), from));
    });
}

awaitable<std::optional<znode>> client::get_async(std::string path, read_from from) const {
    return when_awaited<std::optional<znode>>(*this, &client::async_get, std::move(path), from);
}

void client::async_get(std::string path, read_from from, get_handler handler) const {
    read_and_tell(
        client_core::of(*this), request::get(std::move(path)), from, std::move(handler), znode_in);
}

std::optional<znode_stat> client::exists(std::string path,
                                         read_from from,
                                         std::error_code& ec) const {
    return report(ec, [&] {
        return stat_in(
            read_and_wait(*client_core::of(*this), request::exists(std::move(path)), from));
    });
}

awaitable<std::optional<znode_stat>> client::exists_async(std::string path, read_from from) const {
    return when_awaited<std::optional<znode_stat>>(
        *this, &client::async_exists, std::move(path), from);
}

void client::async_exists(std::string path, read_from from, exists_handler handler) const {
    read_and_tell(client_core::of(*this),
                  request::exists(std::move(path)),
                  from,
                  std::move(handler),
                  stat_in);
}

std::vector<std::string> client::children(std::string path,
                                          read_from from,
                                          std::error_code& ec) const {
    return report(ec, [&] {
        return sorted_names_in(
            read_and_wait(*client_core::of(*this), request::children(std::move(path)), from));
    });
}

awaitable<std::vector<std::string>> client::children_async(std::string path, read_from from) const {
    return when_awaited<std::vector<std::string>>(
        *this, &client::async_children, std::move(path), from);
}

void client::async_children(std::string path, read_from from, children_handler handler) const {
    read_and_tell(client_core::of(*this),
                  request::children(std::move(path)),
                  from,
                  std::move(handler),
                  sorted_names_in);
}

void client::close() const noexcept {
    if (const auto shared = owner_.get()) {
        shared->close();
    }
}

}  // namespace latchkey::inline v0
