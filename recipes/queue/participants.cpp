#include "queue/participants.hpp"

#include "client/blocking_read.hpp"
#include "queue/participant_record.hpp"
#include "queue/queue_order.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

error no_participant(const participant& whom, const std::string& directory) {
    return error(
        errc::invalid_argument,
        '"' + escaped(whom.name) + "\" is not a participant of \"" + escaped(directory) + '"');
}

std::vector<std::string> paths_in_order(client_core& core,
                                        const std::string& directory,
                                        const queue_markers& markers) {
    return paths_in(directory, in_order(read_children(core, directory), markers));
}

}  // namespace

std::vector<participant> read_participants(client_core& core,
                                           const queue_markers& markers,
                                           const std::vector<std::string>& paths) {
    std::vector<participant> found;
    for (auto& [path, znode] : read_znodes(core, paths, longest_participant_data)) {
        found.push_back(participant_from(path, markers, std::move(znode)));
    }
    return found;
}

std::vector<participant> list_participants(client_core& core,
                                           const std::string& directory,
                                           const queue_markers& markers) {
    return read_participants(core, markers, paths_in_order(core, directory, markers));
}

std::optional<participant> first_participant(client_core& core,
                                             const std::string& directory,
                                             const queue_markers& markers) {
    for (const std::string& path : paths_in_order(core, directory, markers)) {
        if (auto found = read_participants(core, markers, {path}); !found.empty()) {
            return std::move(found.front());
        }
    }
    return std::nullopt;
}

bool revoke_in(client_core& core,
               const std::string& directory,
               const queue_markers& markers,
               const participant& whom) {
    if (place_of(whom.name, markers).what != queue_place::standing::participant) {
        throw no_participant(whom, directory);
    }
    return revoke_in(core, directory, whom);
}

bool revoke_in(client_core& core, const std::string& directory, const participant& whom) {
    const std::string path = join_path(directory, whom.name);
    if (name_of(path) != whom.name || !path_problem(path).empty()) {
        throw no_participant(whom, directory);
    }
    const reply r = blocking_read(core, request::set(path, std::string(revocation_request)));
    failure_of(r.code, path, request::kind::set)
        .raise_unless(r.ok() || r.code == result_code::no_node);
    return r.ok();
}

}  // namespace latchkey::inline v0
