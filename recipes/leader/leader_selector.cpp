#include <latchkey/leader_selector.hpp>

#include "client/fork_safe.hpp"
#include "leader/selector_loop.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace latchkey::inline v0 {

namespace {

/// A function that occupies the thread until it returns.
selector_loop::work blocking(leader_selector::work fn) {
    return [fn = std::move(fn)](const latchkey::leadership& term,
                                const std::stop_token& stop,
                                const selector_loop::returned& done) {
        std::exception_ptr threw;
        try {
            fn(term, stop);
        } catch (...) {
            threw = std::current_exception();
        }
        done(threw);
    };
}

}  // namespace

const char* to_string(selector_status s) noexcept {
    constexpr std::array names{"idle", "waiting", "leading", "pausing", "closed"};
    const auto status = static_cast<std::size_t>(s);
    return status < names.size() ? names[status] : "unknown";
}

// ---- the selector ----

leader_selector::leader_selector(
    const client& c, std::string path, leader_options who, work fn, selector_options how) {
    if (!fn) {
        throw error(errc::invalid_argument, "the function of a leader_selector is empty: give one");
    }
    loop_ = fork_safe<selector_loop>(client_core::of(c),
                                     std::move(path),
                                     std::move(who),
                                     blocking(std::move(fn)),
                                     std::move(how));
}

leader_selector::~leader_selector() {
    close();
}

void leader_selector::start() {
    loop_->start();
}

void leader_selector::interrupt() noexcept {
    if (!loop_->core()->forked()) {
        loop_->interrupt();
    }
}

void leader_selector::close() noexcept {
    static_cast<void>(close_within(no_timeout));
}

bool leader_selector::close_within(std::chrono::nanoseconds timeout) noexcept {
    return loop_->core()->forked() || loop_->close(timeout);
}

selector_status leader_selector::status() const noexcept {
    return loop_->core()->forked() ? selector_status::closed : loop_->present();
}

bool leader_selector::is_leader() const noexcept {
    return term().valid();
}

leadership leader_selector::term() const {
    return loop_->core()->forked() ? latchkey::leadership() : leader_term::handle(loop_->term());
}

const std::string& leader_selector::path() const noexcept {
    return loop_->path();
}

const std::string& leader_selector::id() const noexcept {
    return loop_->profile().id;
}

}  // namespace latchkey::inline v0
