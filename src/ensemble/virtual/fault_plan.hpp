#pragma once

#include "ensemble/virtual/random_source.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace latchkey::model {

/// Which faults requests will have, decided when a server receives one.
class fault_plan {
public:
    enum class fault : std::uint8_t {
        none,
        cut,     ///< the connection breaks instead of an answer
        refusal  ///< the code is the answer
    };

    struct verdict {
        fault_plan::fault what = fault::none;
        bool done = true;
        result_code code = result_code::ok;
    };

    /// For the next `count` requests of this kind, of one session or (0) of any.
    struct rule {
        request::kind kind = request::kind::sync;
        bool any_kind = false;
        std::int64_t session = 0;
        int count = 1;
        verdict fate;
    };

    explicit fault_plan(std::uint64_t seed) noexcept : random_(seed) {}

    /// A rule for no requests replaces those for the same kind and session.
    void add(const rule& r);

    /// How many requests have not met a rule yet.
    [[nodiscard]] std::size_t to_come() const noexcept;

    void rates(double cut_before, double cut_after) noexcept {
        cut_before_ = cut_before;
        cut_after_ = cut_after;
    }

    void clear() noexcept {
        rules_.clear();
        rates(0, 0);
    }

    [[nodiscard]] verdict judge(std::int64_t session, request::kind kind);

    [[nodiscard]] random_source& random() noexcept { return random_; }

private:
    std::vector<rule> rules_;
    double cut_before_ = 0;
    double cut_after_ = 0;
    random_source random_;
};

}  // namespace latchkey::model
