#include <latchkey/leader_selector.hpp>

#include "leader/selector_loop.hpp"

#include <utility>

namespace latchkey {

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

const char* to_string(leader_selector::state s) noexcept {
    switch (s) {
        case leader_selector::state::idle:
            return "idle";
        case leader_selector::state::waiting:
            return "waiting";
        case leader_selector::state::leading:
            return "leading";
        case leader_selector::state::pausing:
            return "pausing";
        case leader_selector::state::closed:
            return "closed";
    }
    return "unknown";
}

// ---- the selector ----

leader_selector::leader_selector(client& c, std::string path, leader_options who, work fn)
    : leader_selector(c, std::move(path), std::move(who), std::move(fn), behaviour()) {}

leader_selector::leader_selector(
    client& c, std::string path, leader_options who, work fn, behaviour how) {
    if (!fn) {
        throw error(errc::invalid_argument, "the function of a leader_selector is empty: give one");
    }
    campaign_ = selector_loop::make(client_core::of(c),
                                    std::move(path),
                                    std::move(who),
                                    blocking(std::move(fn)),
                                    std::move(how));
}

leader_selector::~leader_selector() {
    if (!campaign_->core()->forked()) {
        campaign_->close();
    }
}

void leader_selector::start() {
    campaign_->start();
}

void leader_selector::interrupt() noexcept {
    if (!campaign_->core()->forked()) {
        campaign_->interrupt();
    }
}

void leader_selector::close() noexcept {
    if (!campaign_->core()->forked()) {
        campaign_->close();
    }
}

leader_selector::state leader_selector::present() const noexcept {
    return campaign_->core()->forked() ? state::closed : campaign_->present();
}

bool leader_selector::is_leader() const noexcept {
    return leadership().valid();
}

leadership leader_selector::leadership() const {
    return campaign_->core()->forked() ? latchkey::leadership() : campaign_->leadership();
}

const std::string& leader_selector::path() const noexcept {
    return campaign_->path();
}

const std::string& leader_selector::id() const noexcept {
    return campaign_->id();
}

}  // namespace latchkey
