#include "barrier/double_barrier_round.hpp"

#include "text/path.hpp"
#include "text/untrusted_json.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

namespace {

/// The longest data that can be ours, with room for what later versions may add.
constexpr std::size_t longest_note = 4096;

/// The version at the beginning of the round that the data of a directory tells of; nothing if the
/// data is not ours.
std::optional<std::int32_t> noted_version(const std::string& data) {
    const auto object = read_untrusted(data, longest_note, 2);
    if (!object.is_object() || !object.contains("round") || !object["round"].is_number_integer()) {
        return std::nullopt;
    }
    return static_cast<std::int32_t>(object["round"].get<std::int64_t>());
}

/// How many of these participants write to the directory when they leave.
std::int64_t counting(const std::vector<std::string>& members) {
    return std::count_if(members.begin(), members.end(), [](const auto& name) {
        return name.starts_with(double_barrier_round::prefix);
    });
}

}  // namespace

std::size_t double_barrier_round::how_many_fit(const std::vector<std::string>& members) noexcept {
    constexpr std::size_t for_the_rest = longest_note;
    std::size_t size = for_the_rest;
    std::size_t count = 0;
    while (count < members.size() && count < most) {
        size += 3 * members[count].size() + 3;  // escapes of what names may contain, and quotes
        if (size > longest) {
            break;
        }
        ++count;
    }
    return count;
}

bool double_barrier_round::has(std::string_view name) const noexcept {
    return std::find(members.begin(), members.end(), name) != members.end();
}

std::vector<std::string> double_barrier_round::left_of(
    const std::vector<std::string>& names) const {
    std::vector<std::string> left;
    for (const std::string& name : names) {
        if (has(name)) {
            left.push_back(name);
        }
    }
    return left;
}

bool double_barrier_round::all_have_left(std::int32_t now, const std::string& data) const {
    const auto noted = noted_version(data);
    const bool is_later = version && noted && *noted > *version;
    return !version || is_later || std::int64_t(now) - *version >= counting(members);
}

bool double_barrier_round::is_the_last(const std::string& data) const {
    return noted_version(data) == version;
}

bool double_barrier_round::is_note(const std::string& data) {
    return noted_version(data).has_value();
}

std::string double_barrier_round::note() const {
    return version ? nlohmann::json{{"round", *version}}.dump() : std::string();
}

std::string double_barrier_round::write() const {
    return nlohmann::json{{"version", version.value_or(0)}, {"members", members}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<double_barrier_round> double_barrier_round::read(const std::string& data) {
    const auto object = read_untrusted(data, longest, 2);
    if (!object.is_object() || !object.contains("version") || !object.contains("members") ||
        !object["version"].is_number_integer() || !object["members"].is_array() ||
        object["members"].size() > most) {
        return std::nullopt;
    }
    double_barrier_round round;
    round.version = static_cast<std::int32_t>(object["version"].get<std::int64_t>());
    for (const auto& name : object["members"]) {
        if (!name.is_string()) {
            return std::nullopt;
        }
        round.members.push_back(name.get<std::string>());
    }
    return round;
}

std::string nearest_before(const std::string& own, const std::vector<std::string>& members) {
    std::string nearest;
    for (const std::string& name : members) {
        if (name.starts_with(double_barrier_round::prefix) && name < own && name > nearest) {
            nearest = name;
        }
    }
    return nearest;
}

std::vector<std::string> members_in(std::vector<std::string> names) {
    std::erase(names, double_barrier_round::ready);
    return names;
}

std::vector<std::string> double_barrier_round::those_that_fit(std::vector<std::string> members,
                                                              const std::string& own) {
    if (how_many_fit(members) < members.size()) {
        std::iter_swap(members.begin(), std::find(members.begin(), members.end(), own));
        members.resize(how_many_fit(members));
    }
    return members;
}

request double_barrier_round::opening(const queue_recipe& as, std::int32_t now) const {
    std::vector<request> all{
        request::set(as.directory, note(), now),
        request::create(
            join_path(as.directory, ready), write(), create_mode::persistent, *as.access)};
    for (const std::string& name : members) {
        all.push_back(request::check(join_path(as.directory, name)));
    }
    return request::multi(std::move(all));
}

}  // namespace latchkey::inline v0
