#include "judge.hpp"

#include <string_view>

// The data of a queue's directory: what holders leave there for those behind them, and what others
// do.

namespace latchkey::simulation {

namespace {

bool is_of_holders(std::string_view data) {
    return data.empty() || data.starts_with(mark_of_first);
}

}  // namespace

void judge::follow_data(const model::transaction& t, const model::change& c) {
    using enum model::change::kind;
    if (!queues_watched_.contains(c.path) || c.what == set_acl || c.what == set_counter) {
        return;
    }
    std::string& data = data_of_[c.path];
    if (c.what == set_data && t.session != 0 && c.data.starts_with(mark_of_first)) {
        ++stage_.counts.fronts;
        if (!is_of_holders(data)) {
            return stage_.broken("I5", c.data + " is written over the data of another program");
        }
        check_named(c.path, c.path + '/' + c.data.substr(mark_of_first.size()), t.session);
    }
    data = c.what == remove ? std::string() : c.data;
}

/// Clients believe the name in a directory for ever: no participant may be ahead of it.
void judge::check_named(const std::string& directory,
                        const std::string& path,
                        std::int64_t session) {
    const auto named = truth_.find(path);
    if (named == nullptr || !named->there() || named->owner != session) {
        return stage_.broken("I4", path + " is named as the first, and is not there");
    }
    for (const auto& [place, other] : truth_.queue_of(directory)) {
        if (place >= named->place) {
            break;
        }
        if (!other->foreign()) {
            return stage_.broken("I4", path + " is named as the first behind " + other->path);
        }
    }
}

}  // namespace latchkey::simulation
