#pragma once

#include "loop/loop.hpp"
#include "session/request.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// What servers have refused lately. A call whose time is over looks here: a server that answers
/// can be reached, whatever it says. On the loop only.
class refusal_notes {
public:
    using time_point = loop::clock::time_point;

    struct note {
        std::string path;
        request::kind what{};
        result_code code = result_code::ok;
        time_point at{};
        bool over = false;  ///< the same was answered later
    };

    /// Returns whether it is the first answer with a code that nothing in this library expects.
    bool add(std::string_view path, request::kind what, result_code code, time_point now);

    /// The latest since then on this znode or below it; without `ordinary`, none that is part of a
    /// recipe, such as NONODE. If there is none, the latest with a code that is not expected, on
    /// any znode. Null if there is none either.
    [[nodiscard]] const note* latest(std::string_view path, time_point since, bool ordinary) const;

    /// A server has answered such a request about this znode: what was refused before is over.
    void answered(std::string_view path, request::kind what);

    /// The latest on this znode or below it since then that is not over, is no part of a recipe,
    /// and is not about a delete, by which a call gives up; null if there is none.
    [[nodiscard]] const note* standing(std::string_view path, time_point since) const;

    /// A server that had accepted the session has sent what is not ZooKeeper's protocol.
    void add_malformed(std::string why, time_point now) {
        malformed_ = std::move(why);
        malformed_at_ = now;
    }

    /// Which server and what, since then; empty if there is none.
    [[nodiscard]] std::string malformed(time_point since) const {
        return malformed_at_ >= since ? malformed_ : std::string();
    }

private:
    /// Calls that wait longer than the others' refusals stay here find the unexpected one at least.
    static constexpr std::size_t most = 64;

    std::deque<note> notes_;
    bool any_stands_ = false;  ///< or has stood: answered() is called for each answer
    std::optional<note> unexpected_;
    std::vector<result_code> seen_;  ///< of those that are not expected
    std::string malformed_;          ///< the latest
    time_point malformed_at_{};
};

}  // namespace latchkey::inline v0
