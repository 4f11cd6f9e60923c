#pragma once

#include <latchkey/ensemble.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace latchkey::test {

inline constexpr auto for_ever = std::chrono::nanoseconds::max();

/// One use of a recipe, on a stepped ensemble, by a client whose requests the servers refuse from
/// begin() on.
class refused_use {
public:
    refused_use() = default;
    refused_use(const refused_use&) = delete;
    refused_use& operator=(const refused_use&) = delete;
    virtual ~refused_use() = default;

    /// What the client does. What it needs beforehand is there since the constructor.
    virtual void begin() = 0;

    /// The servers do what they are asked again: the use comes to its end, or the same can be done
    /// once more. False if not.
    [[nodiscard]] virtual bool goes_on() = 0;
};

/// The two clients of a use: requests of `mine` are refused.
struct refused_stage {
    testing::ensemble& in;
    client& mine;
    client& other;
};

struct refused_use_kind {
    const char* name;
    std::function<std::unique_ptr<refused_use>(const refused_stage&)> make;
};

[[nodiscard]] std::vector<refused_use_kind> uses_of_locks();
[[nodiscard]] std::vector<refused_use_kind> uses_of_meetings();
[[nodiscard]] std::vector<refused_use_kind> uses_of_elections();

}  // namespace latchkey::test
