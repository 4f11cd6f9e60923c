#include "group_log.hpp"

namespace latchkey::simulation {
namespace {

std::string directory_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

template <typename Map>
group_log::events found_in(const Map& all, const std::string& key) {
    const auto found = all.find(key);
    return found == all.end() ? group_log::events{} : found->second;
}

}  // namespace

void group_log::applied(const model::transaction& t, duration now) {
    using enum model::change::kind;
    const auto count = [&](const std::string& path, std::uint64_t events::*what) {
        for (events* const e : {&in_[directory_of(path)], &of_[path]}) {
            ++(e->*what);
            e->last = now;
        }
    };
    for (const model::change& c : t.changes) {
        if (c.what == create) {
            present_[c.path] = {c.path, t.zxid};
            stories_[present_[c.path]] = {.owner = c.owner, .versions = {{c.data, now}}};
            count(c.path, &events::creates);
        } else if (c.what == remove) {
            if (const auto found = present_.find(c.path); found != present_.end()) {
                stories_[found->second].gone = now;
                present_.erase(found);
            }
            count(c.path, &events::removes);
        } else if (c.what == set_data && present_.contains(c.path)) {
            stories_[present_[c.path]].versions.push_back({c.data, now});
            count(c.path, &events::writes);
        }
    }
}

std::vector<group_member> group_log::now(const std::string& directory) const {
    std::map<std::string, group_member> all;
    for (const auto& [place, p] : truth_.queue_of(directory)) {
        const std::string name = p->path.substr(directory.size() + 1);
        const auto& versions = stories_.at({p->path, p->czxid}).versions;
        all[name] = {.name = name,
                     .data = versions.back().data,
                     .session_id = p->owner,
                     .czxid = p->czxid,
                     .version = static_cast<std::int32_t>(versions.size()) - 1};
    }
    std::vector<group_member> found;
    for (auto& [name, m] : all) {
        found.push_back(std::move(m));
    }
    return found;
}

bool group_log::was_there(const std::string& directory, const group_member& m) const {
    const auto found = stories_.find({directory + '/' + m.name, m.czxid});
    return found != stories_.end() && found->second.owner == m.session_id && m.version >= 0 &&
           static_cast<std::size_t>(m.version) < found->second.versions.size() &&
           found->second.versions[static_cast<std::size_t>(m.version)].data == m.data;
}

const group_log::story& group_log::story_of(const std::string& directory,
                                            const group_member& m) const {
    return stories_.at({directory + '/' + m.name, m.czxid});
}

bool group_log::was_so_since(const std::string& directory,
                             const group_member& m,
                             duration then) const {
    const story& s = story_of(directory, m);
    const auto next = static_cast<std::size_t>(m.version) + 1;
    return (!s.gone || *s.gone >= then) &&
           (next == s.versions.size() || s.versions[next].since >= then);
}

group_log::duration group_log::came(const std::string& directory, const group_member& m) const {
    return story_of(directory, m).versions.front().since;
}

group_log::duration group_log::changed(const std::string& path) const {
    return of(path).last;
}

group_log::events group_log::in(const std::string& directory) const {
    return found_in(in_, directory);
}

group_log::events group_log::of(const std::string& path) const {
    return found_in(of_, path);
}

}  // namespace latchkey::simulation
