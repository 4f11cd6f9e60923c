#include "barrier/double_barrier_round.hpp"

#include "text/path.hpp"
#include "text/untrusted_json.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

bool double_barrier_round::all_have_left(std::int32_t now, const std::string& data) const {
    const auto writes = [](const std::string& name) { return name.starts_with(prefix); };
    return !version || read_note(data) > version ||
           now - std::int64_t(*version) >= std::ranges::count_if(members, writes);
}

std::string double_barrier_round::note() const {
    return version ? nlohmann::json{{"round", *version}}.dump() : std::string();
}

std::optional<std::int32_t> double_barrier_round::read_note(const std::string& data) {
    return integer_in(read_untrusted(data, longest_note, 2), "round");
}

std::vector<std::string> double_barrier_round::those_that_fit(std::vector<std::string> members,
                                                              const std::string& own) {
    std::iter_swap(members.begin(), std::ranges::find(members, own));
    std::size_t size = longest_note;  // for the rest
    const auto fits = [&size](const std::string& name) {
        size += 3 * name.size() + 3;  // escapes of what names may contain, and quotes
        return size <= longest;
    };
    members.resize(std::min(members.size(), most));
    members.erase(std::ranges::find_if_not(members, fits), members.end());
    return members;
}

request double_barrier_round::opening(const queue_recipe& recipe) const {
    std::vector<request> all{
        request::set(recipe.directory, note(), *version - 1),
        request::create(
            join_path(recipe.directory, ready), write(), create_mode::persistent, *recipe.access)};
    for (const std::string& name : members) {
        all.push_back(request::check(join_path(recipe.directory, name)));
    }
    return request::multi(std::move(all));
}

std::string double_barrier_round::write() const {
    return nlohmann::json{{"version", version.value_or(0)}, {"members", members}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<double_barrier_round> double_barrier_round::read(const std::string& data) {
    const auto object = read_untrusted(data, longest, 2);
    const auto version = integer_in(object, "version");
    const auto members = object.find("members");
    const auto is_name = [](const nlohmann::json& one) { return one.is_string(); };
    if (!version || members == object.end() || !members->is_array() || members->size() > most ||
        !std::ranges::all_of(*members, is_name)) {
        return std::nullopt;
    }
    return double_barrier_round{*members, version};
}

}  // namespace latchkey::inline v0
