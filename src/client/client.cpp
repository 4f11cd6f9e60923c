#include <latchkey/client.hpp>

#include "client/client_core.hpp"
#include "session/connect_string.hpp"
#include "session/runtime.hpp"

#include <utility>

namespace latchkey {
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

client::client(std::shared_ptr<client_core> core) noexcept : core_(std::move(core)) {}

client& client::operator=(client&& other) noexcept {
    if (this != &other) {
        client ended(std::move(*this));
        core_ = std::move(other.core_);
    }
    return *this;
}

client::~client() {
    close();
}

connection_state client::state() const noexcept {
    return !core_ || core_->forked() ? connection_state::closed : core_->state();
}

bool client::wait_connected(std::chrono::nanoseconds limit, std::stop_token stop) {
    return client_core::of(*this)->wait_connected(limit, stop);
}

std::string client::trouble() const {
    if (!core_) {
        return "moved from";
    }
    return core_->forked() ? "forked" : core_->trouble();
}

std::int64_t client::session_id() const noexcept {
    return !core_ || core_->forked() ? 0 : core_->session_id();
}

std::chrono::milliseconds client::session_timeout() const noexcept {
    return core_ ? core_->session_timeout() : std::chrono::milliseconds::zero();
}

std::chrono::nanoseconds client::callback_running_for() const noexcept {
    return !core_ || core_->forked() ? std::chrono::nanoseconds::zero()
                                     : core_->callbacks().running_for();
}

subscription client::listen(state_listener listener) {
    const auto& core = client_core::of(*this);
    return core->forked() ? subscription()
                          : subscription(core->listeners().add(std::move(listener)));
}

void client::close() noexcept {
    if (core_ && !core_->forked()) {
        core_->close();
    }
}

}  // namespace latchkey
