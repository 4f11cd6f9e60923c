#include "queue/attempt.hpp"

#include "queue/lock_delay.hpp"
#include "queue/queue_look.hpp"
#include "queue/quorum_check.hpp"
#include "queue/stray_creates.hpp"
#include "text/guid.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace latchkey::inline v0 {

attempt::attempt(const std::shared_ptr<client_core>& core,
                 const std::shared_ptr<const queue_recipe>& as,
                 bool only_if_first,
                 bool directory_known,
                 owner& o)
    : core_(core),
      as_(as),
      owner_(o),
      only_if_first_(only_if_first),
      directory_known_(directory_known),
      retry_(core_->loop()) {}

void attempt::start() {
    running_.start(join(), [this](std::optional<end> over) {
        if (left_) {
            remove();
        } else {
            over ? finish(*std::move(over)) : contend();
        }
    });
}

// ---- joining ----

/// Ends with nothing when it is in the queue, or leaves.
task<std::optional<attempt::end>> attempt::join() {
    if (only_if_first_) {
        auto looking = look_at_queues(core_, as_);
        queues_seen seen = co_await looking;
        if (seen.directories_exist && !directory_known_) {
            look_at_access(*core_, *as_);  // as the client that creates them does
        }
        directory_known_ = seen.directories_exist;
        if (!seen.free) {
            co_return end{end::kind::refused, std::move(seen.why)};
        }
    }
    create_ = std::make_unique<protected_create>(core_, as_, directory_known_);
    std::function<void()> behind;
    if (as_->terms) {
        step_ = as_->terms->make_step(core_, as_, create_->prefix(), [this](failure why) {
            owner_.on_ended({end::kind::refused, std::move(why)});
        });
        first_since_joining_ = true;
        behind = [this] { step_->look_ahead(); };
    }
    auto creating = create_->run(std::move(behind));
    protected_create::joined j = co_await creating;
    note_joined(j);
    if (left_) {
        for (std::size_t i = 0; i < j.lists.size() && i < j.paths.size(); ++i) {
            // An attempt that goes on does this when it learns its place.
            const std::string& own = j.paths[i];
            delete_strays(*core_, *as_, name_of(own).substr(0, prefix_size_), own, *j.lists[i]);
        }
        co_return std::nullopt;
    }
    if (j.why) {
        co_return end{end::kind::refused, std::move(j.why)};
    }
    owner_.on_confirmed();
    if (j.listed) {
        listed_ = std::move(j.lists);
    }
    co_return std::nullopt;
}

void attempt::note_joined(const protected_create::joined& j) {
    prefix_size_ = static_cast<std::uint8_t>(create_->prefix().size());
    create_.reset();
    first_since_joining_ = first_since_joining_ &&
                           ((j.listed && !j.found) || (step_ && step_->looks_behind_each_list));
    set_znodes(j.paths);
    zxid_ = j.zxid;
    is_alone_ = j.alone;
    directory_known_ = directory_known_ || !entries_.empty();
}

void attempt::set_znodes(const std::vector<std::string>& paths) {
    entries_.clear();
    for (const std::string& path : paths) {
        own_znode::owner& self = *this;
        entries_.push_back({.znode = std::make_shared<own_znode>(*core_, path, self)});
    }
}

std::vector<std::string> attempt::paths() const {
    std::vector<std::string> all;
    for (const entry& e : entries_) {
        all.push_back(e.znode->path());
    }
    return all;
}

/// Those, and records of a lock_delay that may be there.
std::vector<std::string> attempt::leftovers() const {
    std::vector<std::string> all = paths();
    std::ranges::move(records(), std::back_inserter(all));
    return all;
}

std::vector<std::string> attempt::records() const {
    return has_records_ ? delay_records_of(*as_, paths()) : std::vector<std::string>();
}

/// A name that the attempt created, its own or another one, begins with it.
std::string_view attempt::prefix() const noexcept {
    return first_prefix_ ? *first_prefix_
                         : name_of(entries_.front().znode->path()).substr(0, prefix_size_);
}

// ---- waiting ----

/// Begins with new lists, unless those of the create are at hand.
void attempt::contend() {
    for (entry& e : entries_) {
        queue_wait::owner& self = *this;
        e.wait = std::make_unique<queue_wait>(core_, as_, *e.znode, prefix(), rule(), self);
    }
    auto at_hand = std::exchange(listed_, {});
    at_hand.resize(entries_.size());
    // Thousands wait: meanwhile there is no frame but that of the wait.
    running_.start(entries_.size() == 1 ? entries_.front().wait->run(std::move(at_hand.front()))
                                        : until_first(std::move(at_hand)),
                   [this](queue_wait::end how) { on_waited(std::move(how)); });
}

void attempt::on_waited(queue_wait::end how) {
    if (how.what == queue_wait::end::kind::gone) {
        finish({end::kind::place_lost});
    } else if (how.what != queue_wait::end::kind::first) {
        finish({end::kind::refused, std::move(how.why)});
    } else {
        entries_.front().first = true;
        running_.start(until_granted(), [this](end e) { finish(std::move(e)); });
    }
}

/// The first everywhere takes the recipe's last step, and proves its session.
task<attempt::end> attempt::until_granted() {
    bool look_for_them = std::any_of(entries_.begin(), entries_.end(), [this](const entry& e) {
        return entries_.size() > 1 && e.znode->is_doubtful();
    });
    if (step_) {
        entries_.front().wait.reset();
        auto taking = step_->take({.znode = *entries_.front().znode,
                                   .zxid = zxid_,
                                   .first_since = first_since_joining_,
                                   .wait = !only_if_first_});
        last_step::end taken = co_await taking;
        if (taken.what == last_step::end::kind::gone) {
            co_return end{end::kind::place_lost};
        }
        if (taken.what != last_step::end::kind::admitted) {
            co_return end{end::kind::refused, std::move(taken.why)};
        }
        if (taken.paths != paths()) {
            set_znodes(taken.paths);
        }
        zxid_ = taken.zxid != 0 ? taken.zxid : zxid_;
        look_for_them = taken.found;
        step_.reset();
    }
    auto proving = prove(look_for_them);
    const result_code code = co_await proving;
    if (code == result_code::no_node) {
        co_return end{end::kind::place_lost};
    }
    if (code != result_code::ok) {
        co_return end{end::kind::refused, failure_of(code, as_->directory)};
    }
    co_return end{end::kind::granted, {}, granted()};
}

/// In several queues, in each by itself.
task<queue_wait::end> attempt::until_first(std::vector<directory_lists::answer> at_hand) {
    oneshot<queue_wait::end> over;
    timer watch_delay(core_->loop());
    const auto note = [this, &watch_delay, set = over.setter()](entry& there, queue_wait::end how) {
        there.first = how.what == queue_wait::end::kind::first;
        if (there.first) {
            there.wait.reset();  // it asks for no proof of the session while it waits elsewhere
        }
        if (there.first && !std::ranges::all_of(entries_, &entry::first)) {
            // Unless the others follow within this event: then the znode needs no watch.
            watch_delay.start(loop::clock::duration::zero(), [this] { watch_where_first(); });
        } else {
            set(std::move(how));
        }
    };
    std::vector<running_task> waits(entries_.size());
    for (std::size_t i = 0; i < entries_.size() && !over.await_ready(); ++i) {
        entry& there = entries_[i];
        waits[i].start(there.wait->run(std::move(at_hand[i])),
                       [&note, &there](queue_wait::end how) { note(there, std::move(how)); });
    }
    queue_wait::end how = co_await over;
    co_return how;
}

void attempt::on_listing() {
    if (step_ && step_->looks_behind_each_list) {
        step_->look_ahead();
    }
}

bool attempt::on_placed(own_znode& z, const queue_verdict& v) {
    first_since_joining_ = first_since_joining_ && v.ahead == 0;
    if (only_if_first_ && v.ahead > 0) {
        return false;
    }
    const auto e =
        std::ranges::find(entries_, &z, [](const entry& one) { return one.znode.get(); });
    if (!std::exchange(e->reserved, true)) {
        owner_.on_reserved({z.path(), v.ahead, v.blocker});
    }
    return true;
}

/// What is deleted while it waits elsewhere is not granted.
void attempt::watch_where_first() {
    for (const entry& e : entries_) {
        if (e.first && !e.znode->watched()) {
            e.znode->watch();
        }
    }
}

/// Where it waits, the wait sets the watches again.
void attempt::session_connected() {
    for (const entry& e : entries_) {
        if (e.first) {
            e.znode->watch_again_if_not();
        }
    }
}

void attempt::znode_missing(const std::string& path) {
    const auto found =
        std::ranges::find(entries_, path, [](const entry& e) { return e.znode->path(); });
    if (found != entries_.end()) {
        on_gone(*found->znode);
    }
}

// ---- the first everywhere ----

/// It is to be granted once it is known by which token, and once the session may be believed.
task<result_code> attempt::prove(bool look_for_them) {
    for (const entry& e : entries_) {
        zxid_ = zxid_ != 0 ? zxid_ : e.znode->czxid();
    }
    while (zxid_ == 0) {
        auto connected = core_->connection_made();
        co_await connected;
        auto asked = core_->send(request::get(entries_.front().znode->path()));
        const reply r = co_await asked;
        if (r.ok()) {
            zxid_ = r.stat.czxid;
        } else if (r.code == result_code::no_node || refused_for_good(r.code)) {
            co_return r.code;
        } else if (core_->connected()) {
            auto pause = retry_.pause();
            co_await pause;
        }
    }
    if (as_->options().lock_delay.count() > 0) {
        has_records_ = true;
        auto created = create_delay_records(core_, as_, paths(), records());
        const result_code code = co_await created;
        if (code != result_code::ok) {
            co_return code;
        }
        look_for_them = false;
    }
    auto checked = quorum_check(*core_, paths(), look_for_them);
    const result_code code = co_await checked;
    co_return code;
}

attempt::grant attempt::granted() {
    if (entries_.size() == 1 && entries_.front().wait && is_alone_) {
        entries_.front().wait->note_grant();
    }
    grant g{.records = records(),
            .prefix = std::string(prefix()),
            .zxid = zxid_,
            .revocation_requested = revocation_requested_};
    for (entry& e : entries_) {
        g.znodes.push_back(std::move(e.znode));
    }
    return g;
}

// ---- the end ----

/// The next place is at the tail: a znode of ours ahead of it would be waited for without end.
void attempt::finish(end e) {
    if (e.what == end::kind::place_lost) {
        core_->deletes().add(leftovers(), nullptr);
    }
    owner_.on_ended(std::move(e));
}

void attempt::leave(std::function<void()> left) {
    left_ = std::move(left);
    if (create_) {
        create_->abandon();
    }
    if (!(create_ && create_->has_sent()) && !moving_) {
        remove();
    }
}

void attempt::remove() {
    const auto there = leftovers();
    const auto perhaps = in_doubt();
    running_.drop();
    entries_.clear();
    step_.reset();
    if (there.empty()) {
        std::exchange(left_, nullptr)();
        return;
    }
    if (!perhaps.empty()) {
        core_->deletes().add(perhaps, nullptr);
    }
    core_->deletes().add(there, [left = std::move(left_)](bool) { left(); });
}

// ---- moving ----

void attempt::move_behind(const std::string& leader,
                          request invitation,
                          std::function<void(const std::string&)> done) {
    const queue_place place = place_of(leader, as_->markers);
    const bool ahead =
        entries_.size() == 1 && entries_.front().wait &&
        place.what == queue_place::standing::participant &&
        place.sequence < place_of(name_of(entries_.front().znode->path()), as_->markers).sequence;
    if (!ahead || !core_->connected()) {
        done({});
        return;
    }
    moving_ = true;
    running_.drop();
    entries_.front().wait.reset();
    entries_.front().znode->stop_watching();
    // With a GUID of its own: what is known of the first one, that strays bear it, stays true.
    const std::string to = join_path(as_->directory,
                                     protected_prefix(guid(core_->loop())) +
                                         std::string(as_->markers.get().exclusive) +
                                         leader.substr(leader.size() - sequence_digits));
    running_.start(
        swap_znodes(
            core_,
            {request::create(to, as_->data(as_->mode), create_mode::ephemeral, *as_->access)},
            {request::check(join_path(as_->directory, leader)), std::move(invitation)},
            entries_.front().znode->path()),
        [this, to, done = std::move(done)](const swapped& s) {
            on_moved(s, to);
            done(s.what == swapped::kind::done ? to : std::string());
        });
}

void attempt::on_moved(const swapped& s, const std::string& to) {
    moving_ = false;
    if (s.what == swapped::kind::done) {
        first_prefix_ = std::make_unique<const std::string>(prefix());
        set_znodes({to});
        zxid_ = 0;
        first_since_joining_ = false;
        behind_twin_ = true;
    }
    if (left_) {
        remove();
    } else if (s.what == swapped::kind::gone) {
        finish({end::kind::place_lost});
    } else {
        contend();
    }
}

}  // namespace latchkey::inline v0
