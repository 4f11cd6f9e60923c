#include <latchkey/leader_latch.hpp>

#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "leader/leader_candidate.hpp"
#include "leader/leader_record.hpp"
#include "leader/leader_watch.hpp"
#include "leader/transfer/mailbox.hpp"
#include "text/path.hpp"
#include "text/utf8.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

void check_successor(const std::optional<std::string>& to) {
    if (to && (to->empty() || to->size() > longest_leader_id || !is_utf8(*to))) {
        throw error(errc::invalid_argument,
                    "\"" + escaped(to->substr(0, 64)) +
                        "\" cannot be the id of a candidate: give 1 to " +
                        std::to_string(longest_leader_id) + " bytes of UTF-8");
    }
}

void check_takes_part(const leader_candidate& c) {
    c.closed_why().raise();
    if (!c.profile().preference) {
        throw error(
            errc::invalid_argument,
            "this leader_latch cannot transfer the leadership: give it a leader_preference");
    }
}

/// How another client asks the leader to hand over.
leader_latch::resignation request_to_resign(const client& c,
                                            const std::string& path,
                                            const std::optional<std::string>& to) {
    using enum leader_latch::resignation;
    const auto core = client_core::of(c);
    check_path(path);
    check_successor(to);
    const std::string peers = peers_of(path);
    const auto lists = blocking_read(*core, {request::children(path), request::children(peers)});
    for (const reply& r : lists) {
        failure_of(r.code, path, request::kind::children).raise_unless(r.tells_whether_there());
    }
    const auto queue = in_order(lists[0].names, latch_names);
    if (queue.empty()) {
        return no_leader;
    }
    std::string leads = join_path(path, queue.front());
    if (heads_of(queue).size() > 1) {
        const auto leader = leader_observer::leader(c, path);
        if (!leader) {
            return no_leader;
        }
        leads = leader->path;
    }
    const auto candidates = reachable({std::string(name_of(leads))}, lists[1].names);
    if (candidates.empty()) {
        return not_possible;
    }
    const std::string mailbox = join_path(peers, candidates.front().mailbox);
    const reply asked = blocking_read(
        *core,
        request::set(
            mailbox,
            write_mailbox_message({mailbox_message::kind::resign, to.value_or(std::string())})));
    // If the mailbox does not exist, that leader has gone already.
    failure_of(asked.code, mailbox, request::kind::set)
        .raise_unless(asked.ok() || asked.code == result_code::no_node);
    return requested;
}

}  // namespace

leader_latch::leader_latch(const client& c, std::string path, leader_options options) {
    candidate_ =
        fork_safe<leader_candidate>(client_core::of(c), std::move(path), std::move(options));
}

leader_latch::~leader_latch() {
    if (!candidate_->core()->forked()) {
        candidate_->close(closing::silent);
    }
}

void leader_latch::start() {
    candidate_->core()->check_not_forked();
    candidate_->start();
}

// ---- waiting ----

leadership leader_latch::wait_within(std::chrono::nanoseconds timeout,
                                     std::stop_token stop,
                                     std::error_code& ec) {
    return report(ec, [&] {
        candidate_->core()->check_may_block();
        start();
        return latchkey::wait_for(std::make_shared<wait_for_term>(candidate_), timeout, stop);
    });
}

void leader_latch::start_wait(std::chrono::nanoseconds timeout,
                              std::stop_token stop,
                              wait_handler handler) {
    start();
    start_async(std::make_shared<wait_for_term>(candidate_), timeout, stop, std::move(handler));
}

// ---- as it is now ----

bool leader_latch::is_leader() const noexcept {
    return term().valid();
}

leadership leader_latch::term() const {
    return candidate_->core()->forked() ? leadership() : leader_term::handle(candidate_->term());
}

subscription leader_latch::on_change(listener l) {
    candidate_->core()->check_not_forked();
    return candidate_->subscribe(std::move(l));
}

void leader_latch::resign() noexcept {
    if (!candidate_->core()->forked()) {
        candidate_->resign();
    }
}

// ---- handing over ----

leader_latch::transfer leader_latch::transfer_within(const std::string& id,
                                                     std::chrono::nanoseconds timeout,
                                                     std::error_code& ec) {
    return report(ec, [&] {
        candidate_->core()->check_may_block();
        check_takes_part(*candidate_);
        const auto outcome = std::make_shared<blocking_result<transfer>>();
        candidate_->transfer(id, timeout, [outcome](transfer t) { outcome->set(t); });
        return outcome->get();
    });
}

void leader_latch::start_transfer(std::string id,
                                  std::chrono::nanoseconds timeout,
                                  transfer_handler handler) {
    const auto& core = candidate_->core();
    core->check_not_forked();
    check_takes_part(*candidate_);
    candidate_->transfer(
        id, timeout, [done = core->callbacks().once(std::move(handler))](transfer t) {
            done({}, t);
        });
}

void leader_latch::close(closing how) noexcept {
    if (!candidate_->core()->forked()) {
        candidate_->close(how);
    }
}

const std::string& leader_latch::path() const noexcept {
    return candidate_->path();
}

const std::string& leader_latch::id() const noexcept {
    return candidate_->profile().id;
}

leader_latch::resignation leader_latch::request_resignation(const client& c,
                                                            const std::string& path,
                                                            const std::optional<std::string>& to,
                                                            std::error_code& ec) {
    return report(ec, [&] { return request_to_resign(c, path, to); });
}

}  // namespace latchkey::inline v0
