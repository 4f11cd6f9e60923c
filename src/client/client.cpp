#include <latchkey/client.hpp>

#include "client/client_core.hpp"
#include "session/connect_string.hpp"
#include "session/runtime.hpp"

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
    return client(client_core::start(process_runtime(), std::move(target), std::move(options)));
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

const std::shared_ptr<client_core>& client_core::of(const client& c) {
    if (!c.owner_) {
        throw error(errc::closed, "this client was moved from: use the one it was moved to");
    }
    return c.owner_->core;
}

connection_state client::state() const noexcept {
    return usable() ? owner_->core->state() : connection_state::closed;
}

bool client::connected_within(std::chrono::nanoseconds timeout,
                              std::stop_token stop,
                              std::error_code& ec) const {
    return report(ec, [&] { return client_core::of(*this)->wait_connected(timeout, stop); });
}

std::string client::last_error() const {
    if (!owner_) {
        return "moved from";
    }
    return owner_->core->forked() ? "forked" : owner_->core->trouble();
}

std::int64_t client::session_id() const noexcept {
    return usable() ? owner_->core->session_id() : 0;
}

std::chrono::milliseconds client::session_timeout() const noexcept {
    return owner_ ? owner_->core->session_timeout() : std::chrono::milliseconds::zero();
}

std::chrono::nanoseconds client::callback_running_for() const noexcept {
    return usable() ? owner_->core->callbacks().running_for() : std::chrono::nanoseconds::zero();
}

subscription client::on_change(state_listener listener) const {
    const auto& core = client_core::of(*this);
    return core->forked() ? subscription()
                          : subscription(core->listeners().add(std::move(listener)));
}

void client::close() const noexcept {
    if (owner_) {
        owner_->close();
    }
}

bool client::usable() const noexcept {
    return owner_ && !owner_->core->forked();
}

}  // namespace latchkey::inline v0
