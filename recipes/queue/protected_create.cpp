#include "queue/protected_create.hpp"

#include "queue/queue_list_of.hpp"
#include "text/guid.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace latchkey {
protected_create::protected_create(std::shared_ptr<client_core> core,
                                   std::shared_ptr<const queue_recipe> as,
                                   bool directory_known,
                                   std::function<void(joined)> done)
    : core_(std::move(core)),
      as_(std::move(as)),
      directories_(as_->directories()),
      prefix_(new_prefix(*core_)),
      done_(std::move(done)),
      directory_known_(directory_known),
      retry_(core_->loop()) {}

std::string protected_create::new_prefix(client_core& core) {
    return protected_prefix(guid(core.loop()));
}

void protected_create::start(std::function<void()> sent) {
    sent_ = std::move(sent);
    send();
}

void protected_create::session_connected() {
    if (resolving_) {
        resolve();
    }
}

void protected_create::send() {
    ++step_;
    core_->send_paced(here([this] { send_now(); }));
}

void protected_create::send_now() {
    if (abandoned_) {
        finish({.why = refused_, .paths = {}, .lists = {}});  // nothing is there
        return;
    }
    ++step_;
    resolving_ = false;
    joined_ = {};
    directory_refused_.assign(directories_.size(), result_code::ok);
    if (!core_->connected()) {
        resolving_ = true;  // nothing was sent; resolving finds that out as cheaply as anything
        return;
    }
    if (!directory_known_) {
        create_directories();
    }
    in_doubt_ = true;
    core_->submit(creation(), here([this](const reply& r) { on_created(r); }));
    if (directories_.size() > 1) {
        // The answer to a transaction does not tell its zxid. Our creation is the last change that
        // this can see, or there was a later one.
        core_->submit(request::get(directories_.front()),
                      here([this](const reply& r) { joined_.zxid = r.stat.pzxid; }));
    }
    list_all(&protected_create::on_listed, sent_);
}

request protected_create::creation() const {
    const auto in = [this](const std::string& directory) {
        return request::create(
            join_path(directory, prefix_ + std::string(marker_of(as_->markers, as_->mode))),
            as_->data(as_->mode),
            create_mode::ephemeral_sequential,
            as_->access);
    };
    if (directories_.size() == 1) {
        return in(directories_.front());
    }
    std::vector<request> together;
    std::transform(directories_.begin(), directories_.end(), std::back_inserter(together), in);
    return request::multi(std::move(together));
}

void protected_create::create_directories() {
    const auto answer_for = [this](std::size_t directory) {
        return here([this, directory](const reply& r) {
            // A level that is there already answers NODEEXISTS, or NOAUTH; the create tells.
            // NONODE: the level above was reaped just now.
            if (r.ok() || r.code == result_code::node_exists) {
                directory_refused_[directory] = result_code::ok;
            } else if (r.code != result_code::no_node && r.code != result_code::throttled) {
                directory_refused_[directory] = r.code;
            }
        });
    };
    if (as_->terms) {
        as_->terms->create_directories(*core_, *as_, answer_for(0));
        return;
    }
    for (std::size_t i = 0; i < directories_.size(); ++i) {
        core_->create_directories(directories_[i], as_->access, answer_for(i));
    }
}

void protected_create::on_created(const reply& r) {
    if (!r.ok()) {
        const auto refused = std::find_if(r.results.begin(),
                                          r.results.end(),
                                          [&r](const reply& one) { return one.code == r.code; });
        on_refused(r.code,
                   refused == r.results.end() ? 0 : std::size_t(refused - r.results.begin()));
        return;
    }
    in_doubt_ = false;
    directory_known_ = true;
    joined_.zxid = r.stat.czxid;
    if (r.results.empty()) {
        joined_.paths.push_back(r.path);
    }
    for (const reply& one : r.results) {
        joined_.paths.push_back(one.path);
    }
}

void protected_create::on_refused(result_code code, std::size_t directory) {
    const std::string& where = directories_.at(directory);
    if (refused_for_good(code)) {
        finish({.why = failure_of(code, where), .paths = {}, .lists = {}});
        return;
    }
    switch (code) {
        case result_code::no_node: {
            // The directory was removed a moment ago, or could not be created.
            const result_code why = directory_refused_.at(directory);
            if (why != result_code::ok && !outcome_unknown(why)) {
                finish({.why = failure_of(why, where), .paths = {}, .lists = {}});
                return;
            }
            directory_known_ = false;
            in_doubt_ = false;
            retry(&protected_create::send);
            return;
        }
        case result_code::throttled:
            in_doubt_ = false;
            retry(&protected_create::send);
            return;
        case result_code::node_exists:
            finish(
                {.why =
                     {errc::sequence_exhausted,
                      "\"" + escaped(where) +
                          "\": the servers have no sequence number left for it; use another path"},
                 .paths = {},
                 .lists = {}});
            return;
        case result_code::marshalling_error:
            // Something went wrong inside the server, nobody knows when: a failure, once it is
            // known what is there.
            refused_ = failure_of(code, where);
            abandoned_ = true;
            resolve();
            return;
        default:
            // Unknown, or a code that we have no word for: the znode may be there.
            if (std::exchange(was_resolved_, true)) {
                retry(&protected_create::resolve);
            } else {
                resolve();
            }
    }
}

/// Asks for the children of every directory, and goes on when all have answered. `sent` is for what
/// is to be asked behind the last of the lists.
void protected_create::list_all(void (protected_create::*listed)(),
                                const std::function<void()>& sent) {
    lists_.assign(directories_.size(), nullptr);
    unanswered_ = directories_.size();
    for (std::size_t i = 0; i < directories_.size(); ++i) {
        directory_lists::question q{
            .directory = directories_[i],
            .answered = here([this, i, listed](const directory_lists::answer& a) {
                lists_[i] = a;
                if (--unanswered_ == 0) {
                    (this->*listed)();
                }
            })};
        if (sent && i + 1 == directories_.size()) {
            q.sent = here(sent);
        }
        core_->lists().ask(std::move(q));
    }
}

void protected_create::on_listed() {
    joined_.listed = true;
    for (std::size_t i = 0; i < directories_.size(); ++i) {
        joined_.listed = joined_.listed && lists_[i]->code == result_code::ok;
        if (lists_[i]->code == result_code::no_auth) {
            joined_.why = failure_of(lists_[i]->code, directories_[i]);
        }
    }
    joined_.lists = std::move(lists_);
    if (directories_.size() > 1 && !is_last_everywhere()) {
        joined_.zxid = 0;
    }
    finish(std::move(joined_));
}

bool protected_create::is_last_everywhere() const {
    for (std::size_t i = 0; i < directories_.size(); ++i) {
        if (!queue_of(*joined_.lists[i], as_->markers).is_last(name_of(joined_.paths[i]))) {
            return false;
        }
    }
    return joined_.listed;
}

/// Takes a step again, a little later; while disconnected, with the next connection.
void protected_create::retry(void (protected_create::*step)()) {
    ++step_;
    resolving_ = true;
    retry_.later([weak = weak_from_this(), step, at = step_] {
        const auto self = weak.lock();
        if (self && self->done_ && self->step_ == at) {
            (self.get()->*step)();
        }
    });
}

void protected_create::finish(joined j) {
    ++step_;
    retry_.cancel();
    if (lost_) {
        lost_->keep(j.paths);
    }
    if (const auto done = std::exchange(done_, nullptr)) {
        done(std::move(j));
    }
}

// ---- what became of a create whose outcome is unknown ----

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
        lost_ = stray_creates::await(core_, as_, prefix_);
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
