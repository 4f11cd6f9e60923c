#include "directories/directory_maker.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// So many paths are remembered, at most.
constexpr std::size_t most_paths = 10'000;

bool is_everyone(const acl_entry& e) {
    return e.scheme == "world" && e.id == "anyone";
}

/// What everyone may do.
permission rights_of_everyone(const acl& list) {
    auto all = permission{};
    for (const acl_entry& e : list) {
        all = is_everyone(e) ? all | e.allowed : all;
    }
    return all;
}

bool is_open(const acl& list) {
    return allows(rights_of_everyone(list), permission::all);
}

/// Servers hide the hashes of a list from who may not change it: "user:x".
bool is_hidden(const acl_entry& e) {
    return e.scheme == "digest" && e.id.ends_with(":x");
}

}  // namespace

/// One make(), until the lists of the levels above have come.
struct directory_maker::walk {
    std::vector<std::string> levels;  ///< below the root
    std::size_t parents = 0;          ///< so many get the list of the level above
    acl access;
    directory_creation made;
    std::size_t known = 0;  ///< levels that exist, the root included
    acl above;              ///< the list of the last of them
    bool answered = true;   ///< all so far
};

directory_creation directory_maker::make(const std::string& path,
                                         const acl& access,
                                         last_level last) {
    auto w = std::make_shared<walk>();
    if (path.size() > 1) {
        w->levels = prefixes_of(path);
    }
    const bool own = last == last_level::access && !w->levels.empty();
    w->parents = w->levels.size() - (own ? 1 : 0);
    w->access = access;
    if (is_open(access)) {
        for (const std::string& level : w->levels) {
            create(level, access, w->made.level());
        }
        return w->made;
    }
    // The last answer of these decides, and comes ahead of that to the create.
    for (std::size_t i = 0; i <= w->parents && w->parents > 0; ++i) {
        effects_.send(request::access_of(i == 0 ? "/" : w->levels[i - 1]),
                      [this, w, is_last = i == w->parents](const reply& list) {
                          note_parent(*w, list);
                          if (is_last && w->answered && w->known <= w->parents) {
                              create_missing(*w);
                          }
                      });
    }
    if (own) {
        create(w->levels.back(), access, w->made.level());
        look_at(w->levels.back(), access);
    }
    return w->made;
}

void directory_maker::note_parent(walk& w, const reply& list) {
    if (list.ok() || list.code == result_code::no_auth) {
        ++w.known;
        const bool usable = list.ok() && !list.access.empty() &&
                            std::none_of(list.access.begin(), list.access.end(), &is_hidden);
        w.above = usable ? list.access : w.access;
    } else {
        w.answered = w.answered && list.code == result_code::no_node && w.known > 0;
    }
}

void directory_maker::create_missing(const walk& w) {
    w.made.note_repetition();
    for (std::size_t i = w.known - 1; i < w.levels.size(); ++i) {
        create(w.levels[i], i < w.parents ? w.above : w.access, w.made.level());
    }
}

void directory_maker::create(const std::string& path, const acl& access, session::completion done) {
    effects_.send(request::create(path, {}, create_mode::container, access), std::move(done));
}

// ---- who has access

void directory_maker::look_at(const std::string& path, const acl& access) {
    if (is_open(access) || exposed_.contains(path)) {
        return;
    }
    effects_.send(request::access_of(path), [this, path, access](const reply& list) {
        if (list.ok()) {
            note_access(path, access, list.access);
        }
    });
}

void directory_maker::note_access(const std::string& path, const acl& wanted, const acl& found) {
    static constexpr std::array rights{std::pair(permission::create, "CREATE"),
                                       std::pair(permission::remove, "DELETE"),
                                       std::pair(permission::write, "WRITE"),
                                       std::pair(permission::admin, "ADMIN")};
    const auto here = rights_of_everyone(found);
    const auto meant = rights_of_everyone(wanted);
    std::string which;
    for (const auto& [right, name] : rights) {
        if (allows(here, right) && !allows(meant, right)) {
            which += (which.empty() ? "" : ", ") + std::string(name);
        }
    }
    if (!which.empty() && exposed_.size() < most_paths && exposed_.insert(path).second) {
        effects_.exposed(path, which);
    }
}

}  // namespace latchkey::inline v0
