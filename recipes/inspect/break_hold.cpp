#include <latchkey/inspect.hpp>

#include "client/client_core.hpp"
#include "client/retrying_call.hpp"
#include "inspect/kind_rules.hpp"
#include "queue/participants.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

namespace latchkey::inline v0 {
namespace {

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

/// Deletes the znode at a path if it is still the one with this czxid, or if the servers do not
/// show the czxid and the name has a GUID. Reached: it was deleted, or it has gone after a delete
/// whose answer was lost.
class hold_break final : public retrying_call<bool> {
public:
    hold_break(std::shared_ptr<client_core> core, std::string path, std::int64_t czxid)
        : retrying_call(std::move(core)), path_(std::move(path)), czxid_(czxid) {}

private:
    [[nodiscard]] call_aim aim() const override { return {"break", {path_}}; }

    /// Never repeats a delete without another look: by then the name may be another znode's.
    task<attempted> attempt() override {
        auto asked = core()->send(request::exists(path_));
        const reply seen = co_await asked;
        if (outcome_unknown(seen.code)) {
            co_return std::nullopt;
        }
        if (seen.code == result_code::no_node || (seen.ok() && seen.stat.czxid != czxid_)) {
            co_return result{{}, in_doubt_};
        }
        // Without READ, newer servers do not show the czxid. A GUID does not repeat, either.
        const bool same_by_name = seen.code == result_code::no_auth && has_guid(name_of(path_));
        if (!seen.ok() && !same_by_name) {
            co_return result{failure_of(seen.code, path_, request::kind::exists), false};
        }
        // If the connection breaks, this attempt is dropped where it waits.
        const bool before = std::exchange(in_doubt_, true);
        auto sent = core()->send(
            request::remove(path_, seen.ok() ? seen.stat.version : request::any_version));
        const reply removed = co_await sent;
        if (outcome_unknown(removed.code)) {
            co_return std::nullopt;
        }
        in_doubt_ = before;
        if (removed.code == result_code::bad_version) {
            co_return std::nullopt;  // its data has changed meanwhile
        }
        if (removed.ok() || removed.code == result_code::no_node) {
            co_return result{{}, removed.ok() || before};
        }
        co_return result{failure_of(removed.code, path_, request::kind::remove), false};
    }

    const std::string path_;
    const std::int64_t czxid_;
    bool in_doubt_ = false;  ///< a delete was sent, and its answer was lost
};

}  // namespace

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
        return revoke_in(*core, std::string(parent_of(whom.path)), whom);
    });
}

}  // namespace latchkey::inline v0
