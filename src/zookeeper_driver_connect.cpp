#include "connect_schedule.hpp"
#include "zookeeper_driver.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using state = zookeeper_handle::state;

/// Frames read before others on the loop get their turn.
constexpr int most_frames = 256;

std::string cause_of(int error) {
    // What the C client says when the other side has hung up.
    return error == EHOSTDOWN ? "the server closed the connection"
                              : std::generic_category().message(error);
}

}  // namespace

// ---- servers

void zookeeper_driver::resolve() {
    if (auto numeric = numeric_addresses(options_.servers)) {
        if (!handle_) {
            start(std::move(*numeric));
        }
        return;
    }
    if (std::exchange(resolving_, true)) {
        return;
    }
    resolver_(options_.servers,
              [weak = weak_from_this(), weak_loop = weak_loop_](name_resolution result) {
                  if (const auto l = weak_loop.lock()) {
                      l->post([weak, result = std::move(result)] {
                          if (const auto self = weak.lock(); self && self->working()) {
                              self->take_turn([&] { self->resolved(result); });
                          }
                      });
                  }
              });
}

void zookeeper_driver::resolved(const name_resolution& result) {
    resolving_ = false;
    for (const auto& failure : result.failures) {
        tell_trouble(failure);
    }
    if (handle_) {
        servers_moved(result.addresses);
    } else if (result.addresses.empty()) {
        fail_waiting(result_code::connection_loss);
        retry_later();
    } else {
        start(result.addresses);
    }
}

void zookeeper_driver::servers_moved(const std::vector<server_address>& addresses) {
    server_list now(addresses, [this] { return loop_->random(); });
    if (connected_ || now.empty() || now.same_servers(servers_)) {
        return;
    }
    servers_ = std::move(now);
    attempts_ = 0;
    handle_->set_servers(servers_.connect_string());
}

void zookeeper_driver::start(std::vector<server_address> addresses) {
    if (!working()) {
        return;
    }
    servers_ = server_list(std::move(addresses), [this] { return loop_->random(); });
    attempts_ = 0;
    zookeeper_handle::observer& told = *this;
    try {
        handle_ = std::make_unique<zookeeper_handle>(
            servers_.connect_string(), options_.timeout, options_.identities, told);
    } catch (const std::system_error& e) {
        tell_trouble(e.what());
        retry_later();
    }
}

void zookeeper_driver::retry_later() {
    if (!working()) {
        return;
    }
    ++failed_rounds_;
    wake_.start(connect_pause(failed_rounds_, loop_->random()),
                [this] { take_turn([this] { resolve(); }); });
}

// ---- the C client's turn

void zookeeper_driver::end_turn() {
    settle();
    if (over_) {
        handle_.reset();
        socket_.drop();
        fail_waiting(result_code::session_expired);
    }
    if (closing_ && !closed_ && !connected_ && !abandoned_) {
        finish_closing(false);
    }
    if (abandoned_) {
        let_go();
    }
    inside_ = false;
}

void zookeeper_driver::pump(bool readable, bool writable) {
    take_turn([&] {
        if (handle_ && (readable || writable)) {
            read_frames(readable, writable);
        }
    });
}

void zookeeper_driver::read_frames(bool readable, bool writable) {
    bool more = true;
    for (int i = 0; i < most_frames && more && !abandoned_; ++i) {
        const auto now = loop_->now();
        if (readable && connected_ && now - answered_at_ >= quiet_limit(handle_->timeout())) {
            tell({.what = session_event::kind::silence_over, .id = 0, .timeout = {}, .detail = {}});
        }
        // Watches come of themselves: they say nothing about what was sent.
        only_watches_ = false;
        more = !abandoned_ && handle_->process(writable && i == 0);
        if (more && readable && !only_watches_) {
            answered_at_ = now;
        }
    }
}

void zookeeper_driver::settle() {
    while (handle_ && working()) {
        if (handle_->current() == state::disconnected && !ready_to_connect()) {
            return;
        }
        send_waiting();
        const bool new_attempt = !socket_.watching();
        const auto wanted = handle_->next();
        if (!working()) {
            return;
        }
        if (wanted.failed) {
            attempting_ = attempting_ || new_attempt;
            continue;
        }
        if (wanted.socket < 0) {
            continue;  // the C client's own pause after its list; ours is in ready_to_connect()
        }
        if (new_attempt && !began_attempt(wanted.socket)) {
            continue;
        }
        if (closing_) {
            finish_closing(wanted.write);
            if (closed_) {
                return;
            }
        }
        socket_.await(wanted.write);
        const auto at = loop_->now() + std::max(wanted.patience, milliseconds(1));
        wake_at(attempting_ ? std::min(at, attempt_ends_) : at);
        return;
    }
}

bool zookeeper_driver::ready_to_connect() {
    socket_.drop();
    if (connected_) {
        // A send failed. The C client has closed the socket without telling, and would match the
        // answers of the next connection with the requests of this one.
        stale_ = true;
        on_state(state::connecting);
    }
    if (attempting_) {
        attempt_failed();
    }
    if (!handle_ || !working() || closing_) {
        return false;
    }
    if (loop_->now() < pause_until_) {
        wake_at(pause_until_);
        return false;
    }
    return true;
}

bool zookeeper_driver::began_attempt(int socket) {
    try {
        socket_.watch(socket);
    } catch (const std::system_error& e) {
        tell_trouble(e.what());
        handle_->fail();
        attempting_ = false;
        pause_until_ = loop_->now() + connect_pause(1, loop_->random());
        return false;
    }
    server_ = handle_->server();
    const bool again = server_ == left_server_ && servers_.size() > 1;
    if (std::exchange(stale_, false) || again) {
        // An attempt that fails for certain makes it give up the old requests, or leads on to
        // another server than the one that we have just left, which may be named twice.
        left_server_ = again ? "" : left_server_;
        handle_->fail();
        return false;
    }
    left_server_.clear();
    attempting_ = true;
    attempt_timed_out_ = false;
    attempt_limit_ = connect_limit(handle_->timeout(), servers_.size(), failed_rounds_);
    attempt_ends_ = loop_->now() + attempt_limit_;
    return true;
}

void zookeeper_driver::attempt_failed() {
    attempting_ = false;
    tell_trouble(servers_.described(handle_->failed_server()) + ": " +
                 (attempt_timed_out_
                      ? "no answer within " + std::to_string(attempt_limit_.count()) + " ms"
                      : cause_of(handle_->last_failure())));
    if (++attempts_ < servers_.round() || !working()) {
        return;
    }
    attempts_ = 0;
    if (ever_connected_) {
        ++failed_rounds_;
        pause_until_ =
            loop_->now() + reconnect_pause(handle_->timeout(), failed_rounds_, loop_->random());
        resolve();  // the servers may have got other addresses
    } else {
        // There is no session to keep: look the names up again.
        handle_.reset();
        retry_later();
    }
}

void zookeeper_driver::wake_at(loop::clock::time_point at) {
    // Too early only costs a look around; setting the alarm each time would cost more.
    if (!wake_.running() || at < wake_at_) {
        wake_at_ = at;
        wake_.start(at, [this] { woken(); });
    }
}

void zookeeper_driver::woken() {
    const bool late = attempting_ && loop_->now() >= attempt_ends_;
    if (late) {
        attempt_timed_out_ = true;
        socket_.shut();
    }
    pump(late, late);
}

}  // namespace latchkey
