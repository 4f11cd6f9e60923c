#include "round.hpp"

#include "late_znode.hpp"
#include "path.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace latchkey {

bool barrier_round::has(std::string_view name) const noexcept {
    return std::find(members.begin(), members.end(), name) != members.end();
}

std::vector<std::string> barrier_round::left_of(const std::vector<std::string>& names) const {
    std::vector<std::string> left;
    for (const std::string& name : names) {
        if (has(name)) {
            left.push_back(name);
        }
    }
    return left;
}

bool barrier_round::all_have_left(std::int32_t now) const noexcept {
    if (!version) {
        return true;  // nobody knows better
    }
    const auto counting = std::count_if(
        members.begin(), members.end(), [](const auto& name) { return name.starts_with(prefix); });
    return std::int64_t(now) - *version >= counting;
}

std::string barrier_round::write() const {
    return nlohmann::json{{"version", version.value_or(0)}, {"members", members}}.dump();
}

std::optional<barrier_round> barrier_round::read(const std::string& data) {
    const auto object = nlohmann::json::parse(data, nullptr, false);
    if (!object.is_object() || !object.contains("version") || !object.contains("members") ||
        !object["version"].is_number_integer() || !object["members"].is_array()) {
        return std::nullopt;
    }
    barrier_round round;
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
        if (name.starts_with(barrier_round::prefix) && name < own && name > nearest) {
            nearest = name;
        }
    }
    return nearest;
}

void attendance::forget_own(const std::shared_ptr<client_core>& core) {
    if (std::exchange(in_doubt, false) && generation == core->generation()) {
        late_znode::await(core, join_path(as.directory, own));
    }
    own.clear();
}

std::vector<std::string> members_in(std::vector<std::string> names) {
    std::erase(names, barrier_round::ready);
    return names;
}

}  // namespace latchkey
