#include <latchkey/inspect.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "inspect/hold_break.hpp"
#include "inspect/kind_rules.hpp"
#include "inspect/path_look.hpp"
#include "queue/acquire_calls.hpp"
#include "text/path.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// How often inspect() looks at a path whose holders change while it looks.
constexpr int most_looks = 3;

constexpr std::size_t longest_reason = 512;

/// Throws errc::invalid_argument unless the znode of `whom` is that of a lock, a semaphore or an
/// election.
void check_breakable(const participant& whom) {
    const std::string problem = path_problem(whom.path);
    const bool one_znode = problem.empty() && name_of(whom.path) == whom.name;
    if (!one_znode || !(whom.permits > 0 || is_in_a_queue(whom.name))) {
        throw error(errc::invalid_argument,
                    "\"" + escaped(whom.path) +
                        "\" is not a participant of a lock, a semaphore or an election: give one "
                        "from inspect() or participants()");
    }
}

std::string hexadecimal(std::int64_t number) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
    return text.data();
}

}  // namespace

const char* to_string(lock_kind k) noexcept {
    switch (k) {
        case lock_kind::none:
            return "none";
        case lock_kind::mutex:
            return "mutex";
        case lock_kind::shared_mutex:
            return "shared_mutex";
        case lock_kind::semaphore:
            return "semaphore";
        case lock_kind::curator_semaphore:
            return "curator_semaphore";
        case lock_kind::leader_election:
            return "leader_election";
        case lock_kind::barrier:
            return "barrier";
        case lock_kind::double_barrier:
            return "double_barrier";
        case lock_kind::group:
            return "group";
        case lock_kind::unknown:
            break;
    }
    return "unknown";
}

queue_view inspect(const client& c, const std::string& path, std::error_code& ec) {
    return report(ec, [&]() -> queue_view {
        const auto core = client_core::of(c);
        check_path(path);
        for (int looks = 1;; ++looks) {
            path_look one(path);
            while (!one.done()) {
                one.answer(blocking_read(*core, one.questions(), one.most_data()));
            }
            if (!one.missed_the_holders() || looks == most_looks) {
                return one.take_view();
            }
        }
    });
}

bool break_hold(const client& c,
                const participant& whom,
                std::string_view reason,
                std::error_code& ec) {
    return report(ec, [&]() -> bool {
        const auto core = client_core::of(c);
        check_breakable(whom);
        const auto call = std::make_shared<hold_break>(core, whom.path, whom.czxid);
        if (!wait_for(call, std::chrono::nanoseconds::zero(), {})) {
            return false;
        }
        core->log({log_level::warning,
                   "hold-broken",
                   "broke \"" + escaped(whom.path) + "\" (session " + hexadecimal(whom.session_id) +
                       ", czxid " + hexadecimal(whom.czxid) +
                       "): " + escaped(reason.substr(0, longest_reason)),
                   whom.path});
        return true;
    });
}

bool revoke(const client& c, const participant& whom, std::error_code& ec) {
    return report(ec, [&]() -> bool {
        const auto core = client_core::of(c);
        check_breakable(whom);
        if (place_of(whom.name, latch_names).what != queue_place::standing::foreign) {
            throw error(errc::invalid_argument,
                        "\"" + escaped(whom.path) +
                            "\" is a candidate of a leader_latch, whose data must not change: use "
                            "leader_latch::request_resignation()");
        }
        const acquire_calls calls(core, local_queue::admits::one_at_a_time);
        return calls.revoke_in(std::string(parent_of(whom.path)), whom);
    });
}

}  // namespace latchkey::inline v0
