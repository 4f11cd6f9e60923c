#include "zookeeper/server_choice.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// For the answers of the servers: a connection that waits for them waits no longer.
constexpr std::chrono::milliseconds longest_limit{300};

/// After answers that leave open whether there is a better server.
constexpr std::chrono::minutes before_asking_again{1};

bool is_same(const server_address& a, const server_address& b) {
    return a.port == b.port && a.address == b.address && a.name == b.name;
}

}  // namespace

server_choice::server_choice(io_loop& l,
                             server_addresses& servers,
                             const std::shared_ptr<tls_identity>& tls,
                             const session_options& options,
                             std::function<void()> decided)
    : loop_(&l),
      servers_(servers),
      tls_(tls),
      options_(options),
      decided_(std::move(decided)),
      limit_(std::min(longest_limit, options.timeout / 20)),
      again_(l) {}

std::optional<loop::clock::time_point> server_choice::waits_until() {
    const bool is_first = options_.prefer != server_preference::any && present_.address.empty();
    if (!is_first) {
        return std::nullopt;
    }
    if (!waits_until_) {
        waits_until_ = loop_->now() + limit_;
    }
    if (!survey_ && !servers_.is_asking()) {
        ask();
    }
    const bool waits = loop_->now() < *waits_until_ && !(survey_ && survey_->is_decided());
    return waits ? waits_until_ : std::nullopt;
}

server_address server_choice::next() {
    is_best_ = better_.has_value();
    present_ = is_best_ ? *std::exchange(better_, std::nullopt) : servers_.next();
    leaving_ = false;
    return present_;
}

void server_choice::connected() {
    connected_ = true;
    if (options_.prefer == server_preference::any) {
        return;
    }
    if (is_best_) {
        ask_later();
    } else {
        ask();
    }
}

void server_choice::disconnected() {
    connected_ = false;
    again_.cancel();
    if (!leaving_) {
        survey_.reset();
        better_.reset();
    }
}

bool server_choice::leaves_for_a_better_one() {
    const bool leaves = connected_ && better_ && !leaving_ && options_.is_idle();
    leaving_ = leaving_ || leaves;
    return leaves;
}

void server_choice::ask() {
    survey_.emplace(*loop_, tls_, options_.prefer, servers_.all(), limit_, [this] { answered(); });
}

void server_choice::ask_later() {
    again_.start(loop::clock::duration(before_asking_again), [this] {
        if (better_ || !survey_->is_final()) {
            ask();
        }
    });
}

void server_choice::answered() {
    better_ = survey_->best();
    if (connected_) {
        if (better_ && is_same(*better_, present_)) {
            better_.reset();
        }
        ask_later();
    }
    const auto decided = decided_;  // it may destroy this object
    decided();
}

}  // namespace latchkey::inline v0
