#include "leader/candidate_profile.hpp"

#include <latchkey/error.hpp>

#include "client/until_answered.hpp"
#include "leader/leader_record.hpp"
#include "leader/transfer/mailbox.hpp"
#include "loop/task.hpp"
#include "queue/own_znode.hpp"
#include "queue/participant_record.hpp"
#include "queue/queue_recipe.hpp"
#include "session/failure.hpp"
#include "text/path.hpp"
#include "text/utf8.hpp"
#include "znode/guarded_write.hpp"

#include <chrono>
#include <utility>

namespace latchkey::inline v0 {
namespace {

// ---- what the user gave ----

std::string checked_id(const std::string& id) {
    if (id.empty()) {
        return default_id();
    }
    if (id.size() > longest_leader_id || !is_utf8(id)) {
        throw error(errc::invalid_argument,
                    "id \"" + escaped(id.substr(0, 64)) + "\" of " + std::to_string(id.size()) +
                        " bytes: give at most " + std::to_string(longest_leader_id) +
                        " bytes of UTF-8");
    }
    return id;
}

void check_time(const char* option, std::chrono::milliseconds time) {
    if (time < time.zero() || time > std::chrono::hours(24 * 365)) {
        throw error(errc::invalid_argument,
                    std::string(option) + " of " + std::to_string(time.count()) +
                        " ms is out of range: give zero to one year");
    }
}

std::optional<leader_preference> checked_preference(
    const std::optional<leader_preference>& preference, const queue_markers& markers) {
    if (!preference) {
        return std::nullopt;
    }
    if (!markers.transferable) {
        throw error(errc::invalid_argument,
                    "a leader_selector cannot have a preference: use a leader_latch, or leave the "
                    "preference out");
    }
    if (preference->priority > highest_priority || preference->priority < -highest_priority) {
        throw error(errc::invalid_argument,
                    "priority " + std::to_string(preference->priority) + " is out of range: give " +
                        std::to_string(-highest_priority) + " to " +
                        std::to_string(highest_priority));
    }
    check_time("hysteresis", preference->hysteresis);
    check_time("cool_down", preference->cool_down);
    check_time("drain", preference->drain);
    return preference;
}

// ---- the grant ----

class leader_grant final : public last_step {
public:
    leader_grant(std::shared_ptr<client_core> core,
                 std::shared_ptr<const queue_recipe> recipe,
                 const candidate_profile& profile)
        : last_step(true), core_(std::move(core)), recipe_(std::move(recipe)), profile_(profile) {}

    void ask_early() override {
        look_.reset();
        if (core_->connected()) {
            look_.emplace(core_->send(request::get(recipe_->directory)));
        }
    }

    task<end> take(place p) override;

private:
    [[nodiscard]] task<reply> read_record();

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> recipe_;
    const candidate_profile& profile_;  ///< kept alive by `recipe_`

    std::optional<oneshot<reply>> look_;  ///< at the record, sent behind a list
};

task<reply> leader_grant::read_record() {
    // One that was answered already was sent before the list that shows this candidate first.
    if (look_ && !look_->await_ready()) {
        auto& look = *look_;
        reply seen = co_await look;
        if (seen.is_decided()) {
            co_return seen;
        }
    }
    auto asking = until_answered(*core_, request::get(recipe_->directory));
    reply seen = co_await asking;
    co_return seen;
}

/// The token of a candidate that needs no write to lead; see candidate_profile.
std::optional<fencing_token> token_at_hand(const last_step::place& p,
                                           const server_stat& stat,
                                           const std::optional<leader_record>& last) {
    const bool is_copy = !last || last->version != stat.version;
    if (const auto next =
            is_copy ? std::nullopt : token_of_successor(*last, name_of(p.znode.path()))) {
        return next;
    }
    const std::int64_t newest = is_copy ? stat.mzxid : token_of(*last, stat.mzxid).zxid;
    return newest < p.zxid ? std::optional(fencing_token{p.zxid, 0}) : std::nullopt;
}

task<last_step::end> leader_grant::take(place p) {
    using enum step_end;
    const std::string own = p.znode.path();
    if (const auto told = p.told ? read_leader_record(*p.told) : std::nullopt) {
        if (const auto token = token_of_successor(*told, name_of(own))) {
            co_return end{.what = done,
                          .zxid = token->zxid,
                          .turn = token->turn,
                          .seen = record_seen{.unclean = unclean_before(told, profile_.id)}};
        }
    }
    auto reading = read_record();
    const reply seen = co_await reading;
    if (seen.code == result_code::no_node) {
        co_return end{gone};
    }
    failure why = seen.ok() ? refuse_foreign_data(recipe_->directory, seen.data)
                            : failure_of(seen.code, recipe_->directory);
    if (why) {
        co_return end{refused, std::move(why)};
    }
    const auto last = read_leader_record(seen.data);
    record_seen record{.version = seen.stat.version, .unclean = unclean_before(last, profile_.id)};
    if (const auto token = token_at_hand(p, seen.stat, last)) {
        co_return end{
            .what = done, .zxid = token->zxid, .turn = token->turn, .seen = std::move(record)};
    }
    guarded_write write{.own = own,
                        .path = recipe_->directory,
                        .text =
                            [this, &own, &record](std::int32_t version) {
                                return write_leader_record({.id = profile_.id,
                                                            .data = profile_.data,
                                                            .znode = std::string(name_of(own)),
                                                            .version = version,
                                                            .unclean = record.unclean});
                            },
                        .version = record.version,
                        .may_replace = refuse_foreign_data};
    auto writing = write_guarded(*core_, write);
    guarded_written w = co_await writing;
    if (w.what == guarded_written::kind::unknown) {
        co_await until_dropped;  // the owner is notified itself of the session's end
    }
    if (w.what == guarded_written::kind::gone) {
        co_return end{gone};
    }
    if (w.what == guarded_written::kind::refused) {
        co_return end{refused, std::move(w.why)};
    }
    record.version = w.stat.version;
    record.written = true;
    co_return end{.what = done, .zxid = w.stat.mzxid, .seen = std::move(record)};
}

}  // namespace

candidate_profile::candidate_profile(const leader_options& given, const queue_markers& markers)
    : id(checked_id(given.id)),
      data(given.data),
      preference(checked_preference(given.preference, markers)) {
    check_leader_data(data);
}

std::unique_ptr<last_step> candidate_profile::make_step(
    std::shared_ptr<client_core> core,
    std::shared_ptr<const queue_recipe> recipe,
    std::function<void(failure)> /*refused*/) const {
    return std::make_unique<leader_grant>(std::move(core), std::move(recipe), *this);
}

}  // namespace latchkey::inline v0
