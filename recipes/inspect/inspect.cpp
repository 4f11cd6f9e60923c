#include <latchkey/inspect.hpp>

#include "client/client_core.hpp"
#include "client/read_window.hpp"
#include "inspect/path_look.hpp"
#include "text/path.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

/// How often inspect() looks at a path whose holders change while it looks.
constexpr int most_looks = 3;

constexpr std::array kind_names{"none",
                                "mutex",
                                "shared_mutex",
                                "semaphore",
                                "curator_semaphore",
                                "leader_election",
                                "barrier",
                                "double_barrier",
                                "group",
                                "unknown"};

task<failure> look_at_path(look_source& servers, path_look& look) {
    auto first_half = read_path(servers, look);
    failure why = co_await first_half;
    if (!why) {
        auto second_half = read_participants(servers, look, true);
        why = co_await second_half;
    }
    co_return why;
}

}  // namespace

const char* to_string(lock_kind k) noexcept {
    return kind_names.at(static_cast<std::size_t>(k));
}

queue_view inspect(const client& c, const std::string& path, std::error_code& ec) {
    return report(ec, [&]() -> queue_view {
        read_window window(client_core::of(c));
        look_source servers(window);
        check_path(path);
        for (int looks = 1;; ++looks) {
            path_look look;
            look.view.path = path;
            std::optional<failure> end;
            running_task looking;
            looking.start(look_at_path(servers, look),
                          [&end](failure why) { end = std::move(why); });
            while (!end) {
                window.take();
            }
            end->raise();
            if (!look.missed_the_holders || looks == most_looks) {
                return std::move(look.view);
            }
        }
    });
}

}  // namespace latchkey::inline v0
