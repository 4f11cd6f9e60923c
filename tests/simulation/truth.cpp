#include "truth.hpp"

#include <algorithm>
#include <string>

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

/// More than there can be of permits is no permit at all.
std::uint32_t weight_of(std::string_view number) {
    constexpr std::size_t digits = 10;
    return number.size() > digits ? 0
                                  : static_cast<std::uint32_t>(std::stoull(std::string(number)));
}

bool can_be_ordered(std::string_view number) {
    constexpr std::size_t digits = 10;
    return number.size() == digits && all_digits(number);
}

}  // namespace

std::shared_ptr<participant> truth::apply(const model::transaction& t,
                                          const model::change& c,
                                          std::chrono::nanoseconds now) {
    using enum model::change::kind;
    if (c.what != create && c.what != remove) {
        return nullptr;
    }
    const std::string directory = c.path.substr(0, c.path.rfind('/'));
    if (unorderable(c.path)) {
        auto& unordered = unordered_[directory];
        std::erase_if(unordered, [&](const auto& entry) { return entry.second == c.path; });
        if (c.what == create) {
            unordered[t.zxid] = c.path;
        }
    }
    const auto r = read(c.path);
    if (!r || !takes_part(c.path, r->number)) {
        return nullptr;
    }
    if (c.what == create) {
        return add(t, c, *r);
    }
    const std::shared_ptr<participant> p = find(c.path);
    if (p == nullptr || !p->there()) {
        return nullptr;
    }
    std::erase_if(queues_[directory], [&](const auto& entry) { return entry.second == p; });
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

std::shared_ptr<participant> truth::add(const model::transaction& t,
                                        const model::change& c,
                                        const reading& r) {
    const std::string directory = c.path.substr(0, c.path.rfind('/'));
    auto p = std::make_shared<participant>();
    p->path = c.path;
    p->directory = directory;
    p->attempt = r.attempt;
    p->number = r.number;
    p->shared = r.shared;
    if (is_permit(c.path)) {
        p->permits = names_.weighted ? weight_of(r.number) : 1;
    }
    p->czxid = t.zxid;
    p->place = {t.zxid};
    p->owner = c.owner;
    queue& here = queues_[directory];
    if (p->shared && p->owner != 0) {
        const auto replaced = std::find_if(here.begin(), here.end(), [&](const auto& entry) {
            const participant& other = *entry.second;
            return !other.shared && other.owner == p->owner && other.attempt == p->attempt &&
                   other.number == p->number;
        });
        if (replaced != here.end()) {
            p->place = replaced->first;
            replaced->second->successor = p;
        }
    }
    if (names_.twins && p->owner != 0 && !unorderable(c.path)) {
        for (const auto& [place, other] : here) {
            if (other->number == p->number && other->owner != 0) {
                p->place = {place.zxid, p->czxid};
                other->successor = p;
            }
        }
    }
    here.emplace(p->place, p);
    histories_[directory].emplace(p->place, p);
    all_[c.path] = p;
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

bool truth::is_permit(std::string_view path) const {
    const std::string_view directory = path.substr(0, path.rfind('/'));
    return !names_.permits.empty() && directory.substr(directory.rfind('/') + 1) == names_.permits;
}

bool truth::takes_part(std::string_view path, std::string_view number) const {
    return names_.any_child || (is_permit(path) ? all_digits(number) : can_be_ordered(number));
}

std::optional<truth::reading> truth::read(std::string_view path) const {
    constexpr auto none = std::string_view::npos;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (names_.any_child) {
        const bool takes_part =
            name != "ready" && directories_.contains(std::string(path.substr(0, path.rfind('/'))));
        return takes_part ? std::optional(reading{name, {}}) : std::nullopt;
    }
    if (is_permit(path)) {
        const std::size_t at = name.rfind(names_.permit);
        return at == none ? std::nullopt
                          : std::optional(reading{name.substr(0, at),
                                                  name.substr(at + names_.permit.size())});
    }
    const std::size_t exclusive = name.rfind(names_.exclusive);
    const std::size_t shared = names_.shared.empty() ? none : name.rfind(names_.shared);
    if (exclusive == none && shared == none) {
        return std::nullopt;
    }
    const bool is_shared = exclusive == none || (shared != none && shared > exclusive);
    const std::string_view marker = is_shared ? names_.shared : names_.exclusive;
    const std::size_t at = is_shared ? shared : exclusive;
    return reading{name.substr(0, name.find(marker)), name.substr(at + marker.size()), is_shared};
}

bool truth::looks_like_participant(std::string_view path) const {
    const auto r = read(path);
    return unorderable(path) || (r && takes_part(path, r->number)) ||
           (is_permit(path) && !names_.weighted);
}

bool truth::unorderable(std::string_view path) const {
    const auto r = read(path);
    if (!r || names_.any_child || is_permit(path)) {
        return false;
    }
    const std::string_view number = r->number;
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

std::shared_ptr<participant> truth::named(std::string_view name) const {
    for (const std::string& directory : directories_) {
        if (auto p = find(directory + '/' + std::string(name))) {
            return p;
        }
    }
    return nullptr;
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
