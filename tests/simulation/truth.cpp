#include "truth.hpp"

#include <algorithm>

namespace latchkey::simulation {
namespace {

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

template <typename Map>
const typename Map::mapped_type& of(const Map& all, const std::string& directory) {
    static const typename Map::mapped_type nothing;
    const auto found = all.find(directory);
    return found == all.end() ? nothing : found->second;
}

/// Whether a name ends in "lock-" and ten digits.
bool takes_part(std::string_view name) {
    constexpr std::string_view marker = "lock-";
    constexpr std::size_t digits = 10;
    if (name.size() < marker.size() + digits) {
        return false;
    }
    const std::string_view number = name.substr(name.size() - digits);
    return name.substr(0, name.size() - digits).ends_with(marker) && all_digits(number);
}

}  // namespace

std::shared_ptr<participant> truth::apply(const model::transaction& t,
                                          const model::change& c,
                                          std::chrono::nanoseconds now) {
    using enum model::change::kind;
    if (c.what != create && c.what != remove) {
        return nullptr;
    }
    const std::size_t slash = c.path.rfind('/');
    const std::string_view name = std::string_view(c.path).substr(slash + 1);
    const std::string directory = c.path.substr(0, slash);
    if (unorderable(name)) {
        auto& unordered = unordered_[directory];
        std::erase_if(unordered, [&](const auto& entry) { return entry.second == c.path; });
        if (c.what == create) {
            unordered[t.zxid] = c.path;
        }
    }
    if (!takes_part(name)) {
        return nullptr;
    }
    if (c.what == create) {
        auto p = std::make_shared<participant>();
        p->path = c.path;
        p->attempt = name.substr(0, name.find("lock-"));
        p->czxid = t.zxid;
        p->owner = c.owner;
        queues_[directory][t.zxid] = p;
        histories_[directory][t.zxid] = p;
        all_[c.path] = p;
        return p;
    }
    const std::shared_ptr<participant> p = find(c.path);
    if (p == nullptr || !p->there()) {
        return nullptr;
    }
    queues_[directory].erase(p->czxid);
    p->ended = now;
    p->gone = t.zxid;
    if (t.what == model::transaction::kind::close_session) {
        p->how = forced_.contains(t.session)   ? participant::ending::taken
                 : closed_.contains(t.session) ? participant::ending::closed
                                               : participant::ending::expired;
    } else if (t.session == 0) {
        p->how = participant::ending::taken;
    } else {
        p->how =
            t.session == p->owner ? participant::ending::released : participant::ending::robbed;
    }
    return p;
}

const truth::queue& truth::queue_of(const std::string& directory) const {
    return of(queues_, directory);
}

const truth::queue& truth::history_of(const std::string& directory) const {
    return of(histories_, directory);
}

const std::map<std::int64_t, std::string>& truth::unordered_in(const std::string& directory) const {
    return of(unordered_, directory);
}

bool truth::looks_like_participant(std::string_view name) {
    return takes_part(name) || unorderable(name);
}

bool truth::unorderable(std::string_view name) {
    constexpr std::string_view marker = "lock-";
    const std::size_t at = name.rfind(marker);
    if (at == std::string_view::npos) {
        return false;
    }
    const std::string_view number = name.substr(at + marker.size());
    if (number.starts_with('-')) {
        return all_digits(number.substr(1));
    }
    // 2^31 - 2^20 - 1; of ten digits each, text compares as numbers do.
    constexpr std::string_view last = "2146435071";
    return all_digits(number) && (number.size() != last.size() || number > last);
}

std::shared_ptr<participant> truth::find(const std::string& path) const {
    const auto found = all_.find(path);
    return found == all_.end() ? nullptr : found->second;
}

std::shared_ptr<participant> truth::predecessor(const std::string& directory,
                                                std::int64_t session) const {
    std::shared_ptr<participant> ahead;
    std::shared_ptr<participant> found;
    for (const auto& [czxid, p] : queue_of(directory)) {
        if (p->owner == session) {
            found = ahead;
        }
        ahead = p;
    }
    return found;
}

}  // namespace latchkey::simulation
