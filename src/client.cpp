#include <latchkey/client.hpp>

#include "client_core.hpp"
#include "connect_string.hpp"
#include "environment.hpp"

#include <limits>
#include <utility>

namespace latchkey {
namespace {

void refuse(const std::string& what) {
    throw error(errc::invalid_argument, what);
}

void check(const client_options& o) {
    const auto ms = [](std::chrono::milliseconds d) { return std::to_string(d.count()) + " ms"; };
    if (o.session_timeout.count() <= 0 ||
        o.session_timeout.count() > std::numeric_limits<int>::max()) {
        refuse("session timeout " + ms(o.session_timeout) +
               ": use a positive one of at most 24 days");
    }
    if (o.close_timeout.count() < 0 || o.close_timeout > std::chrono::hours(1)) {
        refuse("close timeout " + ms(o.close_timeout) + ": use zero to one hour");
    }
    if (o.tick.count() < 0 || o.tick * 5 / 4 >= o.session_timeout) {
        refuse("tick " + ms(o.tick) +
               ": with it nothing could be believed for a session timeout of " +
               ms(o.session_timeout) + "; ask for a longer session timeout");
    }
    for (const credentials& c : o.credentials) {
        if (c.scheme.empty() || c.secret.empty()) {
            refuse("credentials of scheme \"" + c.scheme +
                   "\": neither scheme nor secret may be empty");
        }
    }
    if (o.transport == client_options::transport_kind::tls) {
        throw error(errc::unsupported,
                    "TLS: this build's ZooKeeper C client has none (Debian's package is built "
                    "without); use a tunnel such as "
                    "stunnel or WireGuard, or clear text on a trusted network");
    }
}

}  // namespace

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
    check(options);
    return client(client_core::start(process_environment(), std::move(target), std::move(options)));
}

client::client(std::shared_ptr<client_core> core) noexcept : core_(std::move(core)) {}

client& client::operator=(client&& other) noexcept {
    if (this != &other) {
        client ended(std::move(*this));
        core_ = std::move(other.core_);
    }
    return *this;
}

client::~client() {
    if (!core_) {
        return;
    }
    if (core_->forked()) {
        leak(core_);
        return;
    }
    core_->close();
}

connection_state client::state() const noexcept {
    return core_->forked() ? connection_state::closed : core_->state();
}

bool client::wait_connected(std::chrono::nanoseconds limit, std::stop_token stop) {
    return core_->wait_connected(limit, stop);
}

std::string client::trouble() const {
    return core_->forked() ? "forked" : core_->trouble();
}

std::int64_t client::session_id() const noexcept {
    return core_->forked() ? 0 : core_->session_id();
}

std::chrono::milliseconds client::session_timeout() const noexcept {
    return core_->session_timeout();
}

subscription client::listen(state_listener listener) {
    return core_->forked() ? subscription()
                           : subscription(core_->listeners().add(std::move(listener)));
}

void client::close() noexcept {
    if (core_ && !core_->forked()) {
        core_->close();
    }
}

}  // namespace latchkey
