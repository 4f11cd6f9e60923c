#include "candidate.hpp"

#include <latchkey/error.hpp>

#include "leader_record.hpp"
#include "leader_term.hpp"
#include "path.hpp"
#include "record.hpp"
#include "utf8.hpp"

#include <utility>

namespace latchkey {
namespace {

std::string checked_id(std::string id) {
    if (id.empty()) {
        return default_id();
    }
    if (id.size() > longest_leader_id || !is_utf8(id)) {
        throw error(errc::invalid_argument,
                    "a candidate's id takes at most " + std::to_string(longest_leader_id) +
                        " bytes of UTF-8: \"" + escaped(id.substr(0, 64)) + '"');
    }
    return id;
}

}  // namespace

participation candidate_of(const client_core& core,
                           std::string path,
                           const queue_markers& markers,
                           leader_options options) {
    check_path(path);
    check_leader_data(options.data);
    leader_terms terms{
        .id = checked_id(std::move(options.id)),
        .data = std::move(options.data),
        .steps_down_when_suspended = options.on_suspended == suspended_policy::step_down};
    return {.directory = std::move(path),
            .markers = markers,
            .mode = lock_mode::exclusive,
            .data = [id = terms.id](lock_mode) { return id; },
            .access = std::move(options.access).value_or(core.access()),
            .leads = std::move(terms)};
}

}  // namespace latchkey
