#include "barrier/double_barrier_enter.hpp"

#include "barrier/double_barrier_withdrawal.hpp"
#include "text/guid.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

/// For this long the place is given up in an orderly way, so that the others see no loss.
constexpr auto farewell_limit = std::chrono::seconds(1);

}  // namespace

void double_barrier_enter::session_connected() {
    if (leaving_) {
        return;  // which awaits the connection itself
    }
    next_step();
    placed_ ? look() : take_place();
}

void double_barrier_enter::session_ended(loss) {
    next_step();
    watch_.reset();
    running_.drop();
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
    if (at_->own.empty()) {
        at_->own = std::string(double_barrier_round::prefix) + guid(core()->loop());
        at_->generation = core()->generation();
    }
    if (!at_->directory_known) {
        at_->create_directory(*core());
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
    busy_ = false;
    changed_ = false;
    running_.drop();
    watch_ = stirs();
    const auto before = std::make_shared<std::vector<reply>>();
    const auto keep = [before](reply r) { before->push_back(std::move(r)); };
    const std::string& directory = at_->as.directory;
    core()->submit(request::get(directory), watch_, here(keep));
    core()->submit(request::get(path_of(double_barrier_round::ready)), here(keep));
    core()->submit(request::children(directory),
                   keeps_ ? watch_ : nullptr,
                   here([this, before](const reply& r) { judge((*before)[0], (*before)[1], r); }));
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

/// Begins a round if all members still exist and nothing has happened since the look. The write
/// gives the directory a version that no earlier round has seen. If more members are present than
/// fit into one round, some wait for the next.
void double_barrier_enter::open_round(const reply& directory, std::vector<std::string> members) {
    busy_ = true;
    const std::int32_t version = directory.stat.version;
    members = double_barrier_round::those_that_fit(std::move(members), at_->own);
    auto round = double_barrier_round::after(version, directory.data, std::move(members));
    request opening = round.opening(at_->as, version);
    core()->submit(std::move(opening), here([this, round = std::move(round)](const reply& r) {
                       if (r.ok()) {
                           pass(round);
                       } else {
                           look_unless_refused(r);  // the members have changed
                       }
                   }));
}

void double_barrier_enter::on_round(std::int32_t version,
                                    const reply& ready,
                                    std::vector<std::string> members) {
    opens_ = true;
    auto round = double_barrier_round::read(ready.data);
    if (!round) {
        on_curators_round(version, ready.stat.czxid, std::move(members));
    } else if (round->has(at_->own)) {
        busy_ = true;
        running_.start(is_counted_on(core(), at_, ready.stat.czxid),
                       [this, version, round = *std::move(round)](const counted& c) {
                           if (!c.known) {
                               refused(c.answer, path_of(at_->own));
                           } else if (c.yes) {
                               pass(round);
                           } else {
                               start_anew(version);
                           }
                       });
    } else if (round->left_of(members).empty()) {
        // All participants of that round were lost, or the last one to leave could not clear it
        // away.
        busy_ = true;
        core()->submit(request::multi({request::check(at_->as.directory, version),
                                       request::check(path_of(at_->own)),  // still the same one
                                       request::remove(path_of(double_barrier_round::ready))}),
                       here([this](const reply& r) { look_unless_refused(r); }));
    } else {
        std::erase_if(members, [&round](const std::string& name) { return round->has(name); });
        wait(members, true);
    }
}

/// Uses a name that no other participant has counted, unless a round that counts on this one has
/// begun.
void double_barrier_enter::start_anew(std::int32_t version) {
    core()->submit(removal_at(version, *at_),
                   here([this](const reply& r) { look_unless_refused(r); }));
}

/// That round has no list of its participants.
void double_barrier_enter::on_curators_round(std::int32_t version,
                                             std::int64_t begun,
                                             std::vector<std::string> members) {
    busy_ = true;
    core()->submit(request::get(path_of(at_->own)),
                   here([this, version, begun, members = std::move(members)](const reply& own) {
                       if (!own.ok()) {
                           look_unless_refused(own);
                       } else if (own.stat.czxid < begun || members.size() >= at_->wanted) {
                           pass_curators_round(version, members);
                       } else {
                           wait({at_->own}, true);  // it is not known which others wait
                       }
                   }));
}

/// The participant that watches the children notifies the others, which learn of this round only
/// from the directory's version. If that version has changed since the look, this round may be
/// over.
void double_barrier_enter::pass_curators_round(std::int32_t version,
                                               const std::vector<std::string>& members) {
    double_barrier_round round{members, std::nullopt};
    if (!nearest_before(at_->own, members).empty()) {
        pass(std::move(round));
        return;
    }
    core()->submit(request::set(at_->as.directory, {}, version),
                   here([this, round = std::move(round)](const reply& r) {
                       if (r.ok() || r.code == result_code::no_auth) {
                           pass(round);
                       } else {
                           look_unless_refused(r);
                       }
                   }));
}

void double_barrier_enter::look_unless_refused(const reply& r) {
    if (proves_quorum(r.code) || r.ok()) {
        look_again();
    } else {
        refused(r, at_->as.directory);
    }
}

void double_barrier_enter::pass(double_barrier_round round) {
    at_->round = std::move(round);
    at_->session = core()->session_id();
    if (at_->abandoned) {
        core()->deletes().add(path_of(at_->own), nullptr);
        at_->forget_own(core());
    }
    end({{}, true});
}

// ---- giving up ----

void double_barrier_enter::give_up() {
    leaving_ = true;
    next_step();
    watch_.reset();
    if (!sent_) {
        end({});
        return;
    }
    farewell_.start(farewell_limit, [this] {
        core()->deletes().add(path_of(at_->own), nullptr);
        end({});
    });
    running_.start(withdraw_from_barrier(core(), at_),
                   [this](withdrawn w) { on_withdrawn(std::move(w)); });
}

void double_barrier_enter::on_withdrawn(withdrawn w) {
    switch (w.what) {
        case withdrawn::kind::left:
            sent_ = false;
            end({});
            break;
        case withdrawn::kind::passed:
            pass(std::move(w.round));
            break;
        case withdrawn::kind::refused:
            core()->deletes().add(path_of(at_->own), nullptr);
            end({std::move(w.why), false});
            break;
    }
}

/// If the refusal is a lasting one, ends the call with it and returns true. Otherwise begins again.
bool double_barrier_enter::refused(const reply& r, const std::string& path) {
    if (outcome_unknown(r.code)) {
        begin_again();
        return false;
    }
    if (may_change(r)) {
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
    running_.drop();
    watch_.reset();
    at_->now = r.reached ? inside : outside;
    if (!r.reached) {
        at_->in_doubt = at_->in_doubt || (sent_ && !placed_);
        at_->forget_own(core());
    }
    finish(std::move(r));
}

}  // namespace latchkey
