#include "semaphore/permits.hpp"

#include "input.hpp"

#include <algorithm>
#include <optional>

// The names of a semaphore's permits and the data that is its limit. A line each.

void latchkey::fuzz::check_input(std::string_view text) {
    using namespace latchkey;
    using fuzz::require;

    const std::vector<std::string> names = fuzz::split(text, '\n');
    std::uint64_t sum = 0;
    for (const std::string& name : names) {
        if (const auto limit = read_limit(name)) {
            require(*limit >= 1 && *limit <= most_permits, "a limit is one that can be set");
            const std::string_view digits =
                std::string_view(name).substr(std::min(name.find_first_not_of('0'), name.size()));
            require(std::to_string(*limit) == digits, "a limit is what its digits say");
            require(permits_of("_c_x-" + std::string(permit_marker) + name) == limit,
                    "a permit's name says how many it stands for");
        }
        const std::optional<std::uint32_t> count = permits_of(name);
        require(!count || (*count >= 1 && *count <= most_permits), "a permit stands for some");
        sum += count.value_or(0);
    }
    require(permits_taken(names) == sum, "what is taken is the sum");
}
