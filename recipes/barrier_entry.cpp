#include "barrier_entry.hpp"

#include "guid.hpp"
#include "path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

void ignore(const reply&) {}

}  // namespace

std::string barrier_entry::path_of(std::string_view name) const {
    return join_path(at_->as.directory, name);
}

void barrier_entry::session_connected() {
    next_step();
    if (leaving_) {
        withdraw();
    } else if (placed_) {
        look();
    } else {
        take_place();
    }
}

void barrier_entry::session_ended(loss) {
    next_step();
    watch_.reset();
    placed_ = false;
    sent_ = false;
    at_->forget_own(core());
    if (leaving_) {
        end({});
    }
}

void barrier_entry::client_closed(const failure& why) {
    if (sent_) {
        core()->deletes().add(path_of(at_->own), nullptr);
    }
    end({why, false});
}

// ---- the own place ----

/// The name is one that nobody else has: what is there already was created by an earlier try of
/// this session.
void barrier_entry::take_place() {
    const std::string& directory = at_->as.directory;
    if (at_->own.empty()) {
        at_->own = std::string(barrier_round::prefix) + guid(core()->loop());
        at_->generation = core()->generation();
    }
    if (!at_->directory_known) {
        core()->create_directories(std::string(parent_of(directory)), at_->as.access, ignore);
        // Not a container: its version has to outlive the last one that leaves.
        core()->submit(request::create(directory, {}, create_mode::persistent, at_->as.access),
                       ignore);
    }
    sent_ = true;
    opens_ = true;
    core()->submit(
        request::create(path_of(at_->own),
                        at_->as.data(lock_mode::exclusive),
                        create_mode::ephemeral,
                        at_->as.access),
        [at = at_, created = here([this](const reply& r) { on_created(r); })](reply r) mutable {
            at->in_doubt = at->in_doubt || outcome_unknown(r.code);
            created(std::move(r));
        });
    look();
}

void barrier_entry::on_created(const reply& r) {
    if (r.ok() || r.code == result_code::node_exists) {
        at_->directory_known = true;
        placed_ = true;
        return;
    }
    if (!outcome_unknown(r.code)) {
        sent_ = false;
    }
    if (r.code == result_code::no_node) {
        at_->directory_known = false;
        retry_later();
    } else {
        refused(r, at_->as.directory);
    }
}

// ---- waiting ----

void barrier_entry::look() {
    busy_ = false;
    changed_ = false;
    watch_ = std::make_shared<session::watcher>([weak = weak_from_this()](watch_event) {
        const auto self = std::static_pointer_cast<barrier_entry>(weak.lock());
        if (self && !self->finished() && self->placed_ && !self->leaving_) {
            self->on_changed();
        }
    });
    core()->submit(
        request::children(at_->as.directory), watch_, here([this](const reply& r) { judge(r); }));
}

void barrier_entry::on_changed() {
    if (busy_) {
        changed_ = true;
    } else {
        next_step();
        look();
    }
}

void barrier_entry::judge(const reply& r) {
    if (!r.ok()) {
        refused(r, at_->as.directory);
        return;
    }
    if (std::find(r.names.begin(), r.names.end(), at_->own) == r.names.end()) {
        // Somebody deleted it. The name is not used again: others may have counted it.
        placed_ = false;
        at_->forget_own(core());
        take_place();
        return;
    }
    auto members = members_in(r.names);
    if (members.size() < r.names.size()) {
        read_round(std::move(members));
    } else if (opens_ && members.size() >= at_->wanted) {
        open_round(std::move(members));
    } else {
        opens_ = false;
        wait();
    }
}

void barrier_entry::wait() {
    busy_ = false;
    if (only_looks()) {
        give_up();
    } else if (changed_) {
        look();
    }
}

/// Begins the round, if everybody is still there.
void barrier_entry::open_round(std::vector<std::string> members) {
    busy_ = true;
    const std::string& directory = at_->as.directory;
    core()->submit(request::get(directory),
                   here([this, members = std::move(members)](const reply& r) {
                       if (!r.ok()) {
                           refused(r, at_->as.directory);
                           return;
                       }
                       // The write makes the version one that no earlier round has seen.
                       barrier_round round{members, r.stat.version + 1};
                       std::vector<request> all{request::set(at_->as.directory, {}, r.stat.version),
                                                request::create(path_of(barrier_round::ready),
                                                                round.write(),
                                                                create_mode::persistent,
                                                                at_->as.access)};
                       for (const std::string& name : members) {
                           all.push_back(request::check(path_of(name)));
                       }
                       core()->submit(request::multi(std::move(all)),
                                      here([this, round = std::move(round)](const reply& done) {
                                          if (done.ok()) {
                                              pass(round);
                                          } else if (proves_quorum(done.code)) {
                                              look();  // somebody came between, or has gone
                                          } else {
                                              refused(done, at_->as.directory);
                                          }
                                      }));
                   }));
}

/// The directory is read before `ready`: a round that begins in between changes its version.
void barrier_entry::read_round(std::vector<std::string> members) {
    struct answers {
        reply directory;
        reply ready;
    };

    busy_ = true;
    const auto a = std::make_shared<answers>();
    core()->submit(request::get(at_->as.directory),
                   here([a](reply r) { a->directory = std::move(r); }));
    core()->submit(request::get(path_of(barrier_round::ready)),
                   here([a](reply r) { a->ready = std::move(r); }));
    core()->submit(request::get(path_of(at_->own)),
                   here([this, a, members = std::move(members)](const reply& own) mutable {
                       on_round(a->directory, a->ready, own, std::move(members));
                   }));
}

void barrier_entry::on_round(const reply& directory,
                             const reply& ready,
                             const reply& own,
                             std::vector<std::string> members) {
    for (const reply* const r : {&directory, &ready, &own}) {
        if (r->code == result_code::no_node) {
            look();  // it changes just now
            return;
        }
        if (!r->ok()) {
            refused(*r, at_->as.directory);
            return;
        }
    }
    if (auto round = barrier_round::read(ready.data)) {
        if (round->has(at_->own)) {
            pass(*std::move(round));
        } else if (round->left_of(members).empty()) {
            // All of it were lost, or who left last could not clear it away.
            core()->submit(
                request::multi({request::check(at_->as.directory, directory.stat.version),
                                request::remove(path_of(barrier_round::ready))}),
                here([this](const reply& r) {
                    if (proves_quorum(r.code)) {
                        look();
                    } else {
                        refused(r, at_->as.directory);
                    }
                }));
        } else {
            wait();
        }
    } else if (own.stat.czxid < ready.stat.czxid || members.size() >= at_->wanted) {
        pass({std::move(members), std::nullopt});
    } else {
        wait();  // for the end of a round that Curator's participants are in
    }
}

void barrier_entry::pass(barrier_round round) {
    at_->round = std::move(round);
    at_->session = core()->session_id();
    if (at_->abandoned) {
        core()->deletes().add(path_of(at_->own), nullptr);
        at_->forget_own(core());
    }
    end({{}, true});
}

/// Ends with a refusal that stays one; says whether it did. Otherwise it begins again.
bool barrier_entry::refused(const reply& r, const std::string& path) {
    if (outcome_unknown(r.code)) {
        return false;  // with the next connection
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

void barrier_entry::end(result r) {
    using enum attendance::state;
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
