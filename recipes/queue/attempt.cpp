#include "queue/attempt.hpp"

#include "queue/lock_delay.hpp"
#include "queue/queue_look.hpp"
#include "queue/quorum_check.hpp"
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

attempt::~attempt() {
    core_->heartbeat().withdraw(this);
}

void attempt::start() {
    if (!only_if_first_) {
        join();
        return;
    }
    running_.start(look_at_queues(core_, as_), [this](queues_seen seen) {
        if (seen.directories_exist && !directory_known_) {
            look_at_access(*core_, *as_);  // as who creates them does
        }
        directory_known_ = seen.directories_exist;
        seen.free ? join() : owner_.on_refused(std::move(seen.why));
    });
}

// ---- joining ----

void attempt::join() {
    create_ = std::make_unique<protected_create>(core_, as_, directory_known_);
    std::function<void()> behind;
    if (as_->terms) {
        last_step::owner& self = *this;
        step_ = as_->terms->make_step(core_, as_, create_->prefix(), self);
        first_since_joining_ = true;
        behind = [this] { step_->look_ahead(); };
    }
    running_.start(create_->run(std::move(behind)),
                   [this](protected_create::joined j) { on_joined(std::move(j)); });
}

void attempt::on_joined(protected_create::joined j) {
    prefix_size_ = static_cast<std::uint8_t>(create_->prefix().size());
    create_.reset();
    first_since_joining_ = first_since_joining_ &&
                           ((j.listed && !j.found) || (step_ && step_->looks_behind_each_list()));
    set_znodes(j.paths);
    zxid_ = j.zxid;
    is_alone_ = j.alone;
    directory_known_ = directory_known_ || !entries_.empty();
    if (abandoned_) {
        for (std::size_t i = 0; i < j.lists.size() && i < j.paths.size(); ++i) {
            // An attempt that goes on does this when it learns its place.
            const std::string& own = j.paths[i];
            delete_strays(*core_, *as_, name_of(own).substr(0, prefix_size_), own, *j.lists[i]);
        }
        owner_.on_resolved();
    } else if (j.why) {
        owner_.on_refused(std::move(j.why));
    } else {
        owner_.on_confirmed();
        wait_in_all(j.listed ? std::move(j.lists) : std::vector<directory_lists::answer>());
    }
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

/// From new lists, unless they are at hand. Where it waits for a predecessor it goes on with that;
/// where it was the first it lists again.
void attempt::wait_in_all(std::vector<directory_lists::answer> at_hand) {
    running_.drop();
    for (entry& e : entries_) {
        e.first = false;
        if (!e.wait) {
            queue_wait::owner& self = *this;
            e.wait = std::make_unique<queue_wait>(core_, as_, *e.znode, prefix(), rule(), self);
        }
    }
    const auto begin = [this, &at_hand](std::size_t i) {
        at_hand.empty() ? entries_[i].wait->resume() : entries_[i].wait->begin(at_hand[i]);
    };
    if (entries_.size() == 1) {
        begin(0);
        return;
    }
    // Each of them may end the attempt at once.
    watch_delay_ = std::make_shared<timer>(core_->loop());
    const std::weak_ptr<timer> alive = watch_delay_;
    for (std::size_t i = 0, n = entries_.size(); i < n && !alive.expired(); ++i) {
        begin(i);
    }
}

void attempt::on_listing() {
    if (step_ && step_->looks_behind_each_list()) {
        step_->look_ahead();
    }
}

void attempt::on_listed(const own_znode& z, const listing& l) {
    delete_strays(*core_, *as_, prefix(), z.path(), l);
}

bool attempt::on_placed(own_znode& z, const queue_verdict& v) {
    first_since_joining_ = first_since_joining_ && v.ahead == 0;
    if (only_if_first_ && v.ahead > 0) {
        return false;
    }
    const auto e = std::find_if(
        entries_.begin(), entries_.end(), [&z](const entry& one) { return one.znode.get() == &z; });
    if (!std::exchange(e->reserved, true)) {
        owner_.on_reserved({z.path(), v.ahead, v.blocker});
    }
    return true;
}

void attempt::on_ended(const queue_wait& w, queue_wait::end how) {
    using enum queue_wait::end::kind;
    entry& e = *std::find_if(
        entries_.begin(), entries_.end(), [&w](const entry& one) { return one.wait.get() == &w; });
    switch (how.what) {
        case gone:
            on_gone();
            break;
        case unwanted:
        case refused:
            owner_.on_refused(std::move(how.why));
            break;
        case first:
            e.first = true;
            if (as_->is_believed_later()) {
                e.wait.reset();
            }
            on_first(e);
            break;
    }
}

void attempt::on_first(const entry& there) {
    const auto still_waits = [](const entry& e) { return !e.first; };
    const auto may_be_gone = [&there](const entry& e) {
        return &e != &there && e.znode->is_doubtful();
    };
    if (std::any_of(entries_.begin(), entries_.end(), still_waits)) {
        // Unless the others follow within this event: then the znode needs no watch.
        watch_delay_->start(loop::clock::duration::zero(), [this] { watch_where_first(); });
    } else if (step_) {
        take_last_step();
    } else {
        if (watch_delay_) {
            watch_delay_->cancel();
        }
        prove(std::any_of(entries_.begin(), entries_.end(), may_be_gone));
    }
}

/// What is deleted while it waits elsewhere is not granted.
void attempt::watch_where_first() {
    for (const entry& e : entries_) {
        if (e.first && !e.znode->watched()) {
            e.znode->watch();
        }
    }
}

void attempt::session_connected() {
    if (entries_.empty() || moving_) {
        return;  // what is under way awaits the connection itself
    }
    if (step_taken_) {
        prove(true);  // unwatched, it may have been deleted while there was no connection
    } else if (stepping_) {
        step_->session_connected();
    } else {
        wait_in_all({});  // the watches ended with their connection
    }
}

void attempt::znode_missing(const std::string& path) {
    const auto is_it = [&path](const entry& e) { return e.znode->path() == path; };
    if (std::any_of(entries_.begin(), entries_.end(), is_it)) {
        on_gone();
    }
}

/// Deleted by another client, unless it is just being exchanged for another one.
void attempt::on_gone() {
    if (!moving_ && in_doubt().empty()) {
        owner_.on_place_lost();
    }
}

// ---- the first everywhere ----

void attempt::take_last_step() {
    stepping_ = true;
    step_->begin({.path = entries_.front().znode->path(),
                  .zxid = zxid_,
                  .first_since = first_since_joining_,
                  .wait = !only_if_first_});
}

/// Next to be granted: it has to be believed then, and its znode has to be there.
void attempt::on_waiting() {
    core_->heartbeat().demand(this, entries_.front().znode->path());
    entries_.front().znode->watch();
}

void attempt::on_admitted(last_step::grant g) {
    if (g.paths != paths()) {
        set_znodes(g.paths);
    }
    zxid_ = g.zxid != 0 ? g.zxid : zxid_;
    step_.reset();
    stepping_ = false;
    step_taken_ = true;
    core_->heartbeat().withdraw(this);
    prove(g.found);
}

void attempt::prove(bool look_for_them) {
    running_.start(prove_session(look_for_them), [this](result_code code) { on_proven(code); });
}

/// Granted once it is known by which token, and once the session may be believed.
task<result_code> attempt::prove_session(bool look_for_them) {
    for (const entry& e : entries_) {
        zxid_ = zxid_ != 0 ? zxid_ : e.znode->czxid();
    }
    while (zxid_ == 0) {
        auto asked = core_->send(request::get(entries_.front().znode->path()));
        const reply r = co_await asked;
        if (r.ok()) {
            zxid_ = r.stat.czxid;
        } else if (r.code == result_code::no_node || refused_for_good(r.code)) {
            co_return r.code;
        } else {
            if (!core_->connected()) {
                co_await until_dropped;  // session_connected() begins again
            }
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

void attempt::on_proven(result_code code) {
    if (code == result_code::no_node) {
        on_gone();
        return;
    }
    if (code != result_code::ok) {
        owner_.on_refused(failure_of(code, as_->directory));
        return;
    }
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
    owner_.on_granted(std::move(g));
}

// ---- leaving, moving ----

void attempt::abandon() {
    if (create_) {
        create_->abandon();
    }
    if ((create_ && create_->has_sent()) || moving_) {
        abandoned_ = true;
    } else {
        owner_.on_resolved();
    }
}

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
    if (abandoned_) {
        owner_.on_resolved();
    } else if (s.what == swapped::kind::gone) {
        on_gone();
    } else {
        wait_in_all({});
    }
}

}  // namespace latchkey::inline v0
