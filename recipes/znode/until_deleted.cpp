#include "znode/until_deleted.hpp"

#include "znode/change_watch.hpp"

#include <utility>

namespace latchkey::inline v0 {

task<deletion> until_deleted(std::shared_ptr<client_core> core, std::string path, bool wait) {
    while (true) {
        const change_watch watch;
        auto asked = watch.send(*core, request::get(path));
        const reply r = co_await asked;
        if (!r.ok() || !wait) {
            co_return deletion{r.code};
        }
        auto changed = watch.until_changed(*core);
        co_await changed;
        if (watch.event() == watch_event::deleted) {
            co_return deletion{result_code::no_node, true};
        }
    }
}

}  // namespace latchkey::inline v0
