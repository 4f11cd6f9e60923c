#include "look/queue_text.hpp"

#include "options/duration_text.hpp"
#include "output/json_text.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr std::size_t longest_who = 60;
constexpr std::size_t most_names = 5;

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view red = "\x1b[31m";
constexpr std::string_view plain = "\x1b[0m";

/// At most so many characters of escaped text; the end is left out.
std::string shortened(std::string text, std::size_t longest) {
    if (text.size() <= longest) {
        return text;
    }
    std::size_t end = longest - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
        --end;
    }
    return text.substr(0, end) + "...";
}

/// What a terminal shows of it: escaped text has no combining or control characters to speak of.
std::size_t width_of(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    }));
}

using row = std::array<std::string, 8>;

row row_of(const participant& p, const queue_view& v, wall_clock::time_point now) {
    std::string who = shortened(who_text(p), longest_who);
    if (!p.ephemeral && !p.hidden() && v.kind != lock_kind::barrier) {
        who += " [no session]";
    }
    std::string mode = p.mode ? to_string(*p.mode) : "-";
    if (p.permits > 0) {
        mode = fmt::format("{} permit{}", p.permits, p.permits == 1 ? "" : "s");
    }
    return {std::to_string(p.position),
            state_text(p, v.kind),
            std::move(mode),
            std::move(who),
            since_text(p),
            p.hidden() ? "-" : age_text(age_of(p, now)),
            p.token ? p.token->to_string() : "-",
            escaped(p.name)};
}

void add_names(std::string& text, const std::vector<std::string>& names, const char* what) {
    if (names.empty()) {
        return;
    }
    text += fmt::format("  {}:", what);
    for (std::size_t i = 0; i < std::min(names.size(), most_names); ++i) {
        text += ' ' + escaped(names[i]);
    }
    if (names.size() > most_names) {
        text += fmt::format(" and {} more", names.size() - most_names);
    }
    text += '\n';
}

}  // namespace

std::chrono::milliseconds age_of(const participant& p, wall_clock::time_point now) {
    if (p.hidden()) {
        return {};
    }
    const auto here = std::chrono::duration_cast<std::chrono::milliseconds>(now - p.created);
    return std::max(p.existed_for, here);
}

std::string since_text(const participant& p) {
    return p.hidden() ? "-" : second_text(p.created);
}

std::string who_text(const participant& p) {
    if (p.identified) {
        const identity& i = *p.identified;
        std::string detail = fmt::format("pid {}", i.pid);
        if (!i.program.empty()) {
            detail += ", " + escaped(i.program);
        }
        return fmt::format("{}{}{}@{} ({})",
                           escaped(i.id),
                           i.id.empty() ? "" : ", ",
                           escaped(i.user),
                           escaped(i.host),
                           detail);
    }
    for (const std::string* text : {&p.id, &p.data}) {
        if (!text->empty()) {
            return escaped(*text);
        }
    }
    return p.readable ? fmt::format("session {:#x}", static_cast<std::uint64_t>(p.session_id))
                      : "hidden by its access control list";
}

const char* state_text(const participant& p, lock_kind k) noexcept {
    if (!p.holding) {
        return "waits";
    }
    switch (k) {
        case lock_kind::leader_election:
            return "leads";
        case lock_kind::barrier:
        case lock_kind::double_barrier:
        case lock_kind::group:
            return "present";
        default:
            return "holds";
    }
}

std::size_t holders_in(const queue_view& v) noexcept {
    return static_cast<std::size_t>(std::count_if(v.participants.begin(),
                                                  v.participants.end(),
                                                  [](const participant& p) { return p.holding; }));
}

bool may_color() {
    const char* no_color = std::getenv("NO_COLOR");
    return (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) == 1;
}

std::string summary_text(const queue_view& v) {
    const std::size_t holders = holders_in(v);
    const std::size_t waiters = v.participants.size() - holders;
    switch (v.kind) {
        case lock_kind::none:
            return "does not exist: nothing holds it and nothing waits";
        case lock_kind::unknown:
            return "not in use as a lock, or not a lock";
        case lock_kind::group:
            return fmt::format("group, {} member{}", holders, holders == 1 ? "" : "s");
        case lock_kind::barrier:
            return "barrier, closed";
        case lock_kind::semaphore:
            return fmt::format(
                "semaphore, {} of {} permits taken, {} waiting", v.taken, v.capacity, waiters);
        case lock_kind::leader_election:
            return fmt::format(
                "leader_election, {}, {} waiting", holders > 0 ? "led" : "no leader", waiters);
        default:
            return fmt::format("{}, {} holding, {} waiting", to_string(v.kind), holders, waiters);
    }
}

std::string queue_text(const queue_view& v, const text_style& style) {
    std::string text = fmt::format("{}{}{}: {}\n",
                                   style.color ? bold : "",
                                   escaped(v.path),
                                   style.color ? plain : "",
                                   summary_text(v));
    if (v.leader && !v.leader->data.empty()) {
        text += fmt::format("  publishes: {}\n", shortened(escaped(v.leader->data), 100));
    }
    std::vector<row> rows;
    if (!v.participants.empty()) {
        rows.push_back({"POS", "STATE", "MODE", "WHO", "SINCE", "AGE", "TOKEN", "NODE"});
    }
    for (const participant& p : v.participants) {
        rows.push_back(row_of(p, v, style.now));
    }
    std::array<std::size_t, 8> widths{};
    for (const row& r : rows) {
        for (std::size_t i = 0; i < r.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(r[i]));
        }
    }
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const bool holds = n > 0 && v.participants[n - 1].holding;
        text += style.color && holds ? bold : "";
        for (std::size_t i = 0; i < rows[n].size(); ++i) {
            const bool last = i + 1 == rows[n].size();
            text += "  " + rows[n][i];
            text.append(last ? 0 : widths[i] - width_of(rows[n][i]), ' ');
        }
        text += style.color && holds ? plain : "";
        text += '\n';
    }
    text += style.color && !v.malformed.empty() ? red : "";
    add_names(text, v.malformed, "malformed, nothing more is granted");
    text += style.color && !v.malformed.empty() ? plain : "";
    for (const auto& d : v.delays) {
        text += fmt::format("  taken for {} more from when the first waits: its holder died ({})\n",
                            in_seconds(d.length),
                            escaped(d.path));
    }
    add_names(text, v.foreign, "takes no part");
    return text;
}

}  // namespace latchkey::cli
