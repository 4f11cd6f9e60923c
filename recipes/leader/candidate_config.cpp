#include "leader/candidate_config.hpp"

#include <latchkey/error.hpp>

#include "leader/leader_record.hpp"
#include "leader/leader_term.hpp"
#include "leader/transfer/mailbox.hpp"
#include "queue/participant_record.hpp"
#include "text/path.hpp"
#include "text/utf8.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

std::string checked_id(std::string id) {
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

}  // namespace

candidate_config check_candidate(const client_core& core,
                                 std::string path,
                                 const queue_markers& markers,
                                 leader_options options) {
    check_path(path);
    check_leader_data(options.data);
    leader_terms terms;
    terms.id = checked_id(std::move(options.id));
    terms.data = std::move(options.data);
    terms.preference = checked_preference(options.preference, markers);
    queue_recipe as{
        .directory = std::move(path),
        .markers = markers,
        .access = access_for(core, std::move(options.access)),
        .steps_down_when_suspended = options.on_suspended == suspended_policy::step_down,
        .leads = true};
    as.set_options([&terms](queue_options& own) { own.data = terms.id; });
    auto who = std::make_shared<const leader_terms>(std::move(terms));
    if (markers.transferable) {
        as.terms = who;  // otherwise the grant is that of a mutex
    }
    return {std::move(as), std::move(who)};
}

}  // namespace latchkey::inline v0
