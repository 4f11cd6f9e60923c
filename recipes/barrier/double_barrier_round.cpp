#include "barrier/double_barrier_round.hpp"

#include "text/path.hpp"
#include "text/untrusted_json.hpp"
#include "znode/stray_znode.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

namespace {

/// The longest data that can be ours, with room for what later versions may add.
constexpr std::size_t longest_note = 4096;

/// What the data of the directory says.
struct round_note {
    std::int32_t version = 0;
    std::int64_t counting = 0;
    std::vector<std::int32_t> broken = {};
};

/// Numbers that any client may have written.
std::vector<std::int32_t> broken_in(const nlohmann::json& object) {
    std::vector<std::int32_t> broken;
    const auto found = object.find("broken");
    if (found != object.end() && found->is_array()) {
        for (const auto& each : *found) {
            if (each.is_number_integer() && broken.size() < double_barrier_round::memory) {
                broken.push_back(static_cast<std::int32_t>(each.get<std::int64_t>()));
            }
        }
    }
    return broken;
}

/// Nothing if the data is not ours.
std::optional<round_note> read_note(const std::string& data) {
    const auto object = read_untrusted(data, longest_note, 2);
    if (!object.is_object() || !object.contains("version") || !object.contains("counting") ||
        !object["version"].is_number_integer() || !object["counting"].is_number_integer()) {
        return std::nullopt;
    }
    return round_note{static_cast<std::int32_t>(object["version"].get<std::int64_t>()),
                      object["counting"].get<std::int64_t>(),
                      broken_in(object)};
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

double_barrier_round double_barrier_round::after(std::int32_t now,
                                                 const std::string& data,
                                                 std::vector<std::string> members) {
    double_barrier_round next{std::move(members), now + 1};
    if (auto before = read_note(data)) {
        next.broken = std::move(before->broken);
        if (std::int64_t(now) - before->version < before->counting) {
            next.broken.push_back(before->version);
        }
        if (next.broken.size() > memory) {
            next.broken.erase(next.broken.begin());
        }
    }
    return next;
}

bool double_barrier_round::all_have_left(std::int32_t now, const std::string& data) const {
    if (!version) {
        return true;  // there is no better information
    }
    const auto noted = read_note(data);
    if (!noted || noted->version <= *version) {
        return std::int64_t(now) - *version >= counting(members);
    }
    const auto& broken_since = noted->broken;
    const bool forgotten = broken_since.size() >= memory && broken_since.front() > *version;
    return !forgotten &&
           std::find(broken_since.begin(), broken_since.end(), *version) == broken_since.end();
}

bool double_barrier_round::is_the_last(const std::string& data) const {
    const auto noted = read_note(data);
    return version ? noted && noted->version == *version : !noted;
}

bool double_barrier_round::is_note(const std::string& data) {
    return read_note(data).has_value();
}

std::string double_barrier_round::note() const {
    return version ? nlohmann::json{{"version", *version},
                                    {"counting", counting(members)},
                                    {"broken", broken}}
                         .dump()
                   : std::string();
}

std::string double_barrier_round::write() const {
    return nlohmann::json{
        {"version", version.value_or(0)}, {"members", members}, {"broken", broken}}
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
    round.broken = broken_in(object);
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

void double_barrier_state::create_in_doubt(const std::shared_ptr<client_core>& core,
                                           const std::string& name,
                                           std::uint64_t of_generation) {
    if (name == own) {
        in_doubt = true;
    } else if (of_generation == core->generation()) {
        stray_znode::await(core, join_path(as.directory, name));
    }
}

void double_barrier_state::forget_own(const std::shared_ptr<client_core>& core) {
    if (std::exchange(in_doubt, false) && generation == core->generation()) {
        stray_znode::await(core, join_path(as.directory, own));
    }
    own.clear();
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

directory_creation double_barrier_state::create_directory(client_core& core) const {
    directory_creation made = core.create_parents(as.directory, *as.access);
    // Not a container: its version must outlive the last participant that leaves.
    core.submit(request::create(as.directory, {}, create_mode::persistent, *as.access),
                made.level());
    core.look_at_access(as.directory, *as.access);
    return made;
}

}  // namespace latchkey::inline v0
