#include "look/owner_text.hpp"

#include "options/duration_text.hpp"
#include "output/exit_status.hpp"
#include "queue/participant_record.hpp"
#include "text/escape.hpp"
#include "text/untrusted_json.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

namespace {

constexpr std::size_t longest_foreign_data = 60;

}  // namespace

std::string owner_text(std::string_view data, std::chrono::nanoseconds age) {
    const std::string since = age_text(age);
    if (const auto who = read_record(data)) {
        return fmt::format("{}{}{}@{} (pid {}, {})",
                           escaped(who->id),
                           who->id.empty() ? "" : ", ",
                           escaped(who->user),
                           escaped(who->host),
                           who->pid,
                           since);
    }
    if (data.empty()) {
        return fmt::format("another client ({})", since);
    }
    const bool fits = data.size() <= longest_foreign_data;
    const auto shown = escaped(data.substr(0, longest_foreign_data));
    return fmt::format("{}{} ({})", shown, fits ? "" : "...", since);
}

}  // namespace latchkey::cli
