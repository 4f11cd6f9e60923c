#include "standstills.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey::history {
namespace {

using std::chrono::milliseconds;

/// Whatever the time zone is, it is off by a multiple of this.
constexpr milliseconds quarter = std::chrono::minutes(15);

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [last, bad] = std::from_chars(text.data(), end, number, base);
    return bad == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

/// "20:45:18.325 [...] ..."
std::optional<milliseconds> time_of_day(std::string_view line) {
    if (line.size() < 12) {
        return std::nullopt;
    }
    const auto hours = number_in<int>(line.substr(0, 2));
    const auto minutes = number_in<int>(line.substr(3, 2));
    const auto seconds = number_in<int>(line.substr(6, 2));
    const auto rest = number_in<int>(line.substr(9, 3));
    if (!hours || !minutes || !seconds || !rest) {
        return std::nullopt;
    }
    return std::chrono::hours(*hours) + std::chrono::minutes(*minutes) +
           std::chrono::seconds(*seconds) + milliseconds(*rest);
}

/// The session that this line tells to be committed.
std::optional<std::int64_t> committed_session(std::string_view line) {
    static constexpr std::string_view label = "Committing global session 0x";
    const auto at = line.find(label);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const auto id = number_in<std::uint64_t>(line.substr(at + label.size()), 16);
    return id ? std::optional(static_cast<std::int64_t>(*id)) : std::nullopt;
}

/// From one time to another, of which the day and the zone are unknown.
milliseconds between(milliseconds from, milliseconds to) {
    const milliseconds time = ((to - from) % quarter + quarter) % quarter;
    return time > quarter - std::chrono::minutes(1) ? milliseconds(0) : time;  // clocks are coarse
}

/// How long each session had been proposed when the first server committed it.
std::map<std::int64_t, milliseconds> delays(const history& h,
                                            const std::vector<std::filesystem::path>& logs) {
    std::map<std::int64_t, milliseconds> proposed;
    for (const transaction& entry : h.transactions) {
        if (entry.opens_session) {
            proposed[entry.session] = milliseconds(entry.wall_ms);
        }
    }
    std::map<std::int64_t, milliseconds> all;
    for (const auto& log : logs) {
        std::ifstream in(log);
        for (std::string line; std::getline(in, line);) {
            const auto session = committed_session(line);
            const auto at = time_of_day(line);
            const auto since = session ? proposed.find(*session) : proposed.end();
            if (at && since != proposed.end()) {
                const milliseconds delay = between(since->second, *at);
                const auto [known, first] = all.try_emplace(*session, delay);
                known->second = std::min(known->second, delay);
            }
        }
    }
    return all;
}

}  // namespace

std::vector<disturbance> standstills(const history& h,
                                     const std::vector<std::filesystem::path>& server_logs,
                                     milliseconds least) {
    const auto delayed = delays(h, server_logs);
    std::vector<disturbance> all;
    for (const transaction& entry : h.transactions) {
        const auto delay = entry.opens_session ? delayed.find(entry.session) : delayed.end();
        if (delay == delayed.end() || delay->second < least) {
            continue;
        }
        const nanoseconds begin = milliseconds(entry.wall_ms) + h.wall_offset;
        const nanoseconds end = begin + delay->second;
        if (!all.empty() && begin <= all.back().end) {
            all.back().end = std::max(all.back().end, end);
        } else {
            all.push_back(
                {.kind = "servers commit nothing", .begin = begin, .end = end, .worker = {}});
        }
    }
    return all;
}

}  // namespace latchkey::history
