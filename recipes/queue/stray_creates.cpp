#include "queue/stray_creates.hpp"

#include "queue/queue_list_of.hpp"
#include "text/path.hpp"
#include "znode/session_task.hpp"
#include "znode/stray_znode.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// By the numbers, which a directory gives once: a writer that becomes a reader keeps its number,
/// and changes the marker.
bool is_among(std::span<const std::string> kept,
              const std::string& directory,
              std::string_view name,
              const queue_markers& markers) {
    return std::ranges::any_of(kept, [&](std::string_view one) {
        return parent_of(one) == directory &&
               place_of(name_of(one), markers).sequence == place_of(name, markers).sequence;
    });
}

void delete_all_but(std::span<const std::string> kept,
                    const std::string& directory,
                    std::string_view prefix,
                    client_core& core,
                    const queue_recipe& recipe,
                    const listing& l) {
    for (const std::string& name : queue_of(l, recipe.markers).with_prefix(prefix)) {
        if (!is_among(kept, directory, name, recipe.markers)) {
            core.deletes().add(join_path(directory, name), nullptr);
        }
    }
}

task<bool> look_for_late_creates(std::shared_ptr<client_core> core,
                                 std::shared_ptr<const queue_recipe> recipe,
                                 std::string prefix,
                                 std::vector<std::string> kept,
                                 loop::clock::time_point since) {
    const std::vector<std::string> directories = recipe->directories();
    while (true) {
        auto connection = core->next_connection();
        co_await connection;
        auto asked = core->lists().list_all(directories);
        const std::vector<directory_lists::answer> listed = co_await asked;
        bool answered = true;
        for (std::size_t i = 0; i < listed.size(); ++i) {
            const listing& l = *listed[i];
            answered = answered && (l.code == result_code::ok || l.code == result_code::no_node);
            if (l.code == result_code::ok) {
                delete_all_but(kept, directories[i], prefix, *core, *recipe, l);
            }
        }
        if (answered && too_old_to_come(*core, since)) {
            co_return true;
        }
    }
}

}  // namespace

void delete_late_creates(const std::shared_ptr<client_core>& core,
                         std::shared_ptr<const queue_recipe> recipe,
                         std::string prefix,
                         std::vector<std::string> kept,
                         loop::clock::time_point since) {
    std::make_shared<session_task>(core)->run(
        look_for_late_creates(core, std::move(recipe), std::move(prefix), std::move(kept), since));
}

void delete_strays(client_core& core,
                   const queue_recipe& recipe,
                   std::string_view prefix,
                   const std::string& own,
                   const listing& l) {
    delete_all_but({&own, 1}, std::string(parent_of(own)), prefix, core, recipe, l);
}

}  // namespace latchkey::inline v0
