#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/connection.hpp"

#include <cstdint>
#include <map>
#include <string_view>

namespace latchkey::model {

/// What the servers have received and reported, of all sessions and of each.
class request_counters {
public:
    /// The counter for a request of this kind.
    [[nodiscard]] static std::uint64_t& counter_for(testing::counters& c, const request& r);

    void request_of(std::int64_t session, const packet& p);
    void answer(std::int64_t session, const packet& to, const reply& r);
    void event(std::int64_t session, std::string_view path);

    [[nodiscard]] const testing::counters& total() const noexcept { return total_; }

    [[nodiscard]] testing::counters of(std::int64_t session) const;
    void reset();

private:
    testing::counters total_;
    std::map<std::int64_t, testing::counters> by_session_;
};

}  // namespace latchkey::model
