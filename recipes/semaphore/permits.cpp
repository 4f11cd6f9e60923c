#include "semaphore/permits.hpp"

#include <charconv>

namespace latchkey::inline v0 {

std::optional<std::uint32_t> read_limit(std::string_view data) noexcept {
    std::uint32_t limit = 0;
    const auto [end, failed] = std::from_chars(data.data(), data.data() + data.size(), limit);
    if (failed != std::errc{} || end != data.data() + data.size() || limit == 0 ||
        limit > most_permits) {
        return std::nullopt;
    }
    return limit;
}

std::optional<std::uint32_t> permits_of(std::string_view name) noexcept {
    const std::size_t at = name.rfind(permit_marker);
    return at == std::string_view::npos ? std::nullopt
                                        : read_limit(name.substr(at + permit_marker.size()));
}

std::uint64_t permits_taken(const std::vector<std::string>& names) noexcept {
    std::uint64_t taken = 0;
    for (const std::string& name : names) {
        taken += permits_of(name).value_or(0);
    }
    return taken;
}

std::string lease_ending(std::uint32_t number) {
    const std::string digits = std::to_string(number);
    return "lease-" + std::string(10 - digits.size(), '0') + digits;
}

}  // namespace latchkey::inline v0
