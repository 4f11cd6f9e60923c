#include "look/leader_monitor.hpp"

#include <latchkey/leader_observer.hpp>

#include "look/leader_text.hpp"
#include "look/monitor.hpp"

#include <optional>

namespace latchkey::cli {

int follow_leader(const elect_options& options, const status_output& output) {
    monitor all(options, output);
    leader_observer observer(all.zk(), options.path);
    const subscription watching = observer.on_change([&](const std::optional<leader_info>& now) {
        all.loop().post([&all, &options, now] {
            all.print(options.json ? leader_json_line(options.path, now) : leader_line(now));
        });
    });
    return all.run([&] { static_cast<void>(leader_observer::leader(all.zk(), options.path)); });
}

}  // namespace latchkey::cli
