#include "queue/late_creates.hpp"

#include "queue/queue_list_of.hpp"
#include "text/path.hpp"
#include "znode/session_task.hpp"
#include "znode/stray_znode.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

task<bool> look_for_late_creates(std::shared_ptr<client_core> core,
                                 std::shared_ptr<const queue_recipe> recipe,
                                 std::string prefix,
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
                for (const std::string& name : queue_of(l, recipe->markers).with_prefix(prefix)) {
                    core->deletes().add(join_path(directories[i], name), nullptr);
                }
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
                         loop::clock::time_point since) {
    std::make_shared<session_task>(core)->run(
        look_for_late_creates(core, std::move(recipe), std::move(prefix), since));
}

}  // namespace latchkey::inline v0
