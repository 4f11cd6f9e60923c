#include "run/waiting_line.hpp"

#include "look/owner_text.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

constexpr std::chrono::seconds first_shown_after{2};
constexpr std::chrono::milliseconds between_refreshes{500};
constexpr std::chrono::seconds between_place_looks{5};
constexpr std::size_t digits_of_a_place = 10;

/// Nothing for the name of another znode.
std::optional<std::string_view> place_in(std::string_view name) {
    if (name.size() < digits_of_a_place) {
        return std::nullopt;
    }
    const auto digits = name.substr(name.size() - digits_of_a_place);
    const bool all = digits.find_first_not_of("0123456789") == std::string_view::npos;
    return all ? std::optional(digits) : std::nullopt;
}

bool is_reader(std::string_view name) {
    return name.find("__READ__") != std::string_view::npos;
}

}  // namespace

std::optional<line_place> place_among(const std::vector<std::string>& names, std::string_view own) {
    const auto mine = place_in(own);
    if (!own.empty() && (!mine || std::find(names.begin(), names.end(), own) == names.end())) {
        return std::nullopt;
    }
    line_place place;
    std::string_view nearest;
    for (const std::string& name : names) {
        const auto other = place_in(name);
        if (!other || (mine && *other >= *mine) || (is_reader(own) && is_reader(name))) {
            continue;
        }
        ++place.ahead;
        if (nearest.empty() || (mine ? *other > nearest : *other < nearest)) {
            nearest = *other;
            place.nearest = name;
        }
    }
    return place;
}

std::string ordinal(std::size_t number) {
    const bool teens = number % 100 / 10 == 1;
    const std::size_t last = teens ? 0 : number % 10;
    const char* const end = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
    return std::to_string(number) + end;
}

std::string clock_text(std::chrono::seconds time) {
    const auto seconds = time.count();
    const auto hours = seconds / 3600;
    const auto rest = fmt::format("{:02}:{:02}", seconds / 60 % 60, seconds % 60);
    return hours > 0 ? fmt::format("{}:{}", hours, rest) : rest;
}

waiting_line::waiting_line(
    client& c, main_loop& loop, const status_output& output, std::string path, about what)
    : client_(c),
      loop_(loop),
      output_(output),
      path_(std::move(path)),
      about_(what),
      shown_(output.shows_progress()),
      refresh_(loop) {}

void waiting_line::begin() {
    ++wait_;
    begin_ = clock::now();
    look_at_ = begin_ + first_shown_after;
    own_.clear();
    place_.reset();
    directory_ = about_ == about::first ? path_ : "";
    if (shown_) {
        refresh_.start(first_shown_after, [this] { refresh(); });
    }
}

void waiting_line::on_place(const queue_position& p) {
    if (p.position == 0 && !own_.empty()) {
        return;  // one of several queues: it waits in another one
    }
    const auto slash = p.path.rfind('/');
    directory_ = p.path.substr(0, slash);
    own_ = p.path.substr(slash + 1);
    place_ = line_place{p.position, p.predecessor};
}

void waiting_line::refresh() {
    const auto now = clock::now();
    refresh_.start(between_refreshes, [this] { refresh(); });
    if (!directory_.empty() && now >= look_at_) {
        look_at_ = now + between_place_looks;
        look();
    }
    const auto waited = std::chrono::floor<std::chrono::seconds>(now - begin_);
    output_.progress(fmt::format("latchkey: waiting for {}{}", escaped(path_), place_text()),
                     " ... " + clock_text(waited));
}

void waiting_line::end() {
    ++wait_;
    refresh_.cancel();
    output_.end_progress();
}

void waiting_line::look() {
    client_.async_children(
        directory_,
        read_from::any_server,
        [this, wait = wait_](std::error_code ec, std::vector<std::string> names) {
            loop_.post([this, wait, ec, names = std::move(names)] { on_names(wait, ec, names); });
        });
}

void waiting_line::on_names(std::uint64_t wait,
                            std::error_code ec,
                            const std::vector<std::string>& names) {
    const auto place = place_among(names, own_);
    if (wait != wait_ || ec || !place) {
        return;
    }
    place_ = place;
    if (place->nearest.empty() || place->nearest == owner_of_) {
        return;
    }
    client_.async_get(
        directory_ + '/' + place->nearest,
        read_from::any_server,
        [this, wait, name = place->nearest](std::error_code, std::optional<znode> found) {
            loop_.post(
                [this, wait, name, found = std::move(found)] { on_znode(wait, name, found); });
        });
}

void waiting_line::on_znode(std::uint64_t wait,
                            const std::string& name,
                            const std::optional<znode>& found) {
    if (wait == wait_ && found) {
        owner_of_ = name;
        owner_ = *found;
    }
}

std::string waiting_line::place_text() const {
    switch (client_.state()) {
        case connection_state::connected:
        case connection_state::reconnected:
            break;
        default:
            return ": no connection";
    }
    if (!place_) {
        return "";
    }
    if (place_->nearest.empty()) {
        return about_ == about::own_place ? ": next in line" : "";
    }
    const auto age = std::chrono::system_clock::now() - owner_.stat.created;
    const std::string behind =
        place_->nearest == owner_of_ ? " behind " + owner_text(owner_.data, age) : "";
    return about_ == about::own_place
               ? fmt::format(": {} in line{}", ordinal(place_->ahead + 1), behind)
               : (behind.empty() ? "" : ":" + behind);
}

}  // namespace latchkey::cli
