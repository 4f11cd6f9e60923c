#include "queue/protected_create.hpp"
#include "queue/queue_list_of.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <set>
#include <utility>

// How a create whose outcome is unknown is found, or found not to be there.

namespace latchkey {

void protected_create::resolve() {
    ++step_;
    resolving_ = true;
    if (!core_->connected()) {
        return;
    }
    list_all(&protected_create::examine);
}

/// Asks what became of all that bears our GUID.
void protected_create::examine() {
    const auto found = std::make_shared<candidates>();
    for (std::size_t i = 0; i < lists_.size(); ++i) {
        const listing& l = *lists_[i];
        if (l.code != result_code::ok && l.code != result_code::no_node) {
            retry(&protected_create::resolve);
            return;
        }
        for (const std::string& name : queue_of(l, as_->markers).with_prefix(prefix_)) {
            found->push_back({.path = join_path(directories_[i], name), .directory = i});
        }
    }
    if (found->empty()) {
        start_again();
        return;
    }
    unanswered_ = found->size();
    for (std::size_t i = 0; i < found->size(); ++i) {
        core_->submit(request::get((*found)[i].path), here([this, found, i](const reply& r) {
                          (*found)[i].found = r;
                          if (--unanswered_ == 0) {
                              adopt(*found);
                          }
                      }));
    }
}

/// Adopts the first that is there in every directory and our session's; the owner deletes what
/// else bears our GUID. Those of one creation have one zxid: a mixture would be in another order
/// in each directory, and two that are could wait for each other.
void protected_create::adopt(const candidates& found) {
    const bool unclear =
        std::any_of(found.begin(), found.end(), [](const candidate& c) { return !c.found.ok(); });
    if (unclear) {
        retry(&protected_create::resolve);
        return;
    }
    std::set<std::int64_t> creations;
    for (const candidate& c : found) {
        creations.insert(c.found.stat.czxid);
    }
    for (const std::int64_t czxid : creations) {
        list paths;
        for (const candidate& c : found) {
            if (c.found.stat.czxid == czxid && is_ours(c) && c.directory == paths.size()) {
                paths.push_back(c.path);
            }
        }
        if (paths.size() == directories_.size() && !torn_) {
            joined j{.why = refused_,
                     .paths = std::move(paths),
                     .zxid = czxid,
                     .listed = true,
                     .found = true,
                     .lists = std::move(lists_)};
            finish(std::move(j));
            return;
        }
    }
    clear_away(found);
}

bool protected_create::is_ours(const candidate& c) const {
    return c.found.stat.ephemeral_owner == core_->session_id();
}

/// Of one of several znodes that is there, somebody has deleted the others; or they came between
/// two of the lists. It is looked again until no more is found, and none of it adopted.
void protected_create::clear_away(const candidates& found) {
    bool any = false;
    for (const candidate& c : found) {
        if (is_ours(c)) {
            core_->deletes().add(c.path, nullptr);
            any = true;
        }
    }
    if (!any) {
        start_again();
    } else if (std::exchange(torn_, true)) {
        retry(&protected_create::resolve);
    } else {
        resolve();
    }
}

/// It is not there. Where something was deleted the next one has another GUID: a directory that is
/// removed and made again numbers anew, and a delete that is repeated, or waits in a server's
/// queue, would find it under the same name.
void protected_create::start_again() {
    if (std::exchange(in_doubt_, false) && !lost_) {
        lost_ = lost_create::await(core_, as_, prefix_);
    }
    if (std::exchange(torn_, false)) {
        if (const auto old = std::exchange(lost_, nullptr)) {
            old->keep({});
        }
        prefix_ = new_prefix(*core_);
    }
    send();
}

}  // namespace latchkey
