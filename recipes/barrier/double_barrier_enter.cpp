#include "barrier/double_barrier_enter.hpp"

#include "text/guid.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

void ignore(const reply&) {}

}  // namespace

std::string double_barrier_enter::path_of(std::string_view name) const {
    return join_path(at_->as.directory, name);
}

void double_barrier_enter::session_connected() {
    next_step();
    if (leaving_) {
        withdraw();
    } else if (placed_) {
        look();
    } else {
        take_place();
    }
}

void double_barrier_enter::session_ended(loss) {
    next_step();
    watch_.reset();
    lose_place();
    if (leaving_) {
        end({});
    }
}

void double_barrier_enter::client_closed(const failure& why) {
    if (sent_) {
        core()->deletes().add(path_of(at_->own), nullptr);
    }
    end({why, false});
}

// ---- the own place ----

/// No other participant has this name: a znode that exists already was created by an earlier try in
/// this session.
void double_barrier_enter::take_place() {
    const std::string& directory = at_->as.directory;
    if (at_->own.empty()) {
        at_->own = std::string(double_barrier_round::prefix) + guid(core()->loop());
        at_->generation = core()->generation();
    }
    if (!at_->directory_known) {
        core()->create_directories(std::string(parent_of(directory)), at_->as.access, ignore);
        // Not a container: its version must outlive the last participant that leaves.
        core()->submit(request::create(directory, {}, create_mode::persistent, at_->as.access),
                       ignore);
    }
    sent_ = true;
    opens_ = true;
    fresh_ = true;
    core()->submit(
        request::create(path_of(at_->own),
                        at_->as.data(lock_mode::exclusive),
                        create_mode::ephemeral,
                        at_->as.access),
        [at = at_, created = here([this](const reply& r) { on_created(r); })](reply r) mutable {
            at->in_doubt = at->in_doubt || may_be_applied(r.code);
            created(std::move(r));
        });
    look();
}

/// The name is not used again, because other participants may have counted it.
void double_barrier_enter::lose_place() {
    placed_ = false;
    sent_ = false;
    at_->forget_own(core());
}

void double_barrier_enter::on_created(const reply& r) {
    if (r.ok() || r.code == result_code::node_exists) {
        at_->directory_known = true;
        placed_ = true;
        return;
    }
    sent_ = at_->in_doubt;  // an earlier create may have been applied nevertheless
    if (r.code == result_code::no_node) {
        at_->directory_known = false;
        retry_later();
    } else {
        refused(r, at_->as.directory);
    }
}

// ---- waiting ----

std::shared_ptr<session::watcher> double_barrier_enter::stirs() {
    return std::make_shared<session::watcher>([weak = weak_from_this()](watch_event) {
        const auto self = std::static_pointer_cast<double_barrier_enter>(weak.lock());
        if (self && !self->finished() && self->placed_ && !self->leaving_) {
            self->on_changed();
        }
    });
}

/// In this order: a round that begins after the first of these reads changes the directory's
/// version, which the watch of that read reports.
void double_barrier_enter::look() {
    struct answers {
        reply directory;
        reply ready;
    };

    busy_ = false;
    changed_ = false;
    watch_ = stirs();
    const auto a = std::make_shared<answers>();
    const std::string& directory = at_->as.directory;
    core()->submit(
        request::get(directory), watch_, here([a](reply r) { a->directory = std::move(r); }));
    core()->submit(request::get(path_of(double_barrier_round::ready)),
                   here([a](reply r) { a->ready = std::move(r); }));
    core()->submit(request::children(directory),
                   keeps_ ? watch_ : nullptr,
                   here([this, a](const reply& r) { judge(a->directory, a->ready, r); }));
}

/// What was seen is no longer so, or not so yet.
void double_barrier_enter::look_again() {
    busy_ = false;
    if (changed_) {
        on_changed();
    } else {
        again_soon([this] { look(); });
    }
}

void double_barrier_enter::on_changed() {
    if (busy_) {
        changed_ = true;
    } else {
        next_step();
        look();
    }
}

void double_barrier_enter::judge(const reply& directory, const reply& ready, const reply& list) {
    for (const reply* const r : {&directory, &list}) {
        if (!r->ok()) {
            if (r->code == result_code::no_node) {
                lose_place();
            }
            refused(*r, at_->as.directory);
            return;
        }
    }
    if (!ready.ok() && ready.code != result_code::no_node) {
        refused(ready, path_of(double_barrier_round::ready));
        return;
    }
    if (std::find(list.names.begin(), list.names.end(), at_->own) == list.names.end()) {
        lose_place();  // another client deleted it
        again_soon([this] { take_place(); });
        return;
    }
    at_->directory = directory.stat.czxid;
    auto members = members_in(list.names);
    const bool is_on = members.size() < list.names.size();
    const bool enough = members.size() >= at_->wanted;
    if (is_on != ready.ok()) {
        look_again();  // it is changing at this moment
    } else if (is_on) {
        on_round(directory.stat.version, ready, std::move(members));
    } else if (enough && opens_ && (fresh_ || nearest_before(at_->own, members).empty())) {
        open_round(directory, std::move(members));
    } else {
        opens_ = opens_ && enough;
        wait(members, false);
    }
}

/// The data of the directory reports a round that one of our participants has begun. A round that
/// Curator's participants begin shows only in a list. A list for each arrival would make n * n
/// lists for n participants. So one participant watches the children, and each of the others
/// watches the nearest one ahead of it by name.
void double_barrier_enter::wait(const std::vector<std::string>& members, bool round_is_on) {
    busy_ = false;
    fresh_ = false;
    if (only_looks()) {
        give_up();
        return;
    }
    const std::string ahead = nearest_before(at_->own, members);
    const bool keeps_anew = ahead.empty() && !keeps_;
    keeps_ = ahead.empty();
    if (keeps_anew) {
        opens_ = true;  // the participant that watched before may have gone while it did
    }
    if (keeps_anew || changed_) {
        look();
        return;
    }
    if (round_is_on) {
        if (!keeps_) {
            watch_ = stirs();  // participants that leave write to the directory
        }
        heed(double_barrier_round::ready);
    }
    heed(at_->own);
    if (!ahead.empty()) {
        heed(ahead);
    }
}

/// Looks again when anything happens to this znode.
void double_barrier_enter::heed(std::string_view name) {
    core()->submit(
        request::get(path_of(name)), watch_, here([this, path = path_of(name)](const reply& r) {
            if (r.code == result_code::no_node) {
                busy_ ? on_changed() : look_again();
            } else if (!r.ok()) {
                refused(r, path);
            }
        }));
}

/// If the refusal is a lasting one, ends the call with it and returns true. Otherwise begins again.
bool double_barrier_enter::refused(const reply& r, const std::string& path) {
    if (outcome_unknown(r.code)) {
        begin_again();
        return false;
    }
    if (r.code == result_code::throttled || proves_quorum(r.code) || r.ok()) {
        retry_later();
        return false;
    }
    if (sent_) {
        core()->deletes().add(path_of(at_->own), nullptr);
    }
    end({failure_of(r.code, path), false});
    return true;
}

void double_barrier_enter::end(result r) {
    using enum double_barrier_state::state;
    farewell_.cancel();
    watch_.reset();
    at_->now = r.reached ? inside : outside;
    if (!r.reached) {
        at_->in_doubt = at_->in_doubt || (sent_ && !placed_);
        at_->forget_own(core());
    }
    finish(std::move(r));
}

}  // namespace latchkey
