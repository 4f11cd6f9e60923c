#include "barrier/double_barrier_enter.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

// How a round begins, and what a participant does about one that has begun.

namespace latchkey {

/// Begins a round if all members still exist and nothing has happened since the look. The write
/// gives the directory a version that no earlier round has seen. If more members are present than
/// fit into one round, some wait for the next.
void double_barrier_enter::open_round(const reply& directory, std::vector<std::string> members) {
    busy_ = true;
    if (double_barrier_round::how_many_fit(members) < members.size()) {
        std::iter_swap(members.begin(), std::find(members.begin(), members.end(), at_->own));
        members.resize(double_barrier_round::how_many_fit(members));
    }
    const std::int32_t version = directory.stat.version;
    auto round = double_barrier_round::after(version, directory.data, std::move(members));
    std::vector<request> all{request::set(at_->as.directory, round.note(), version),
                             request::create(path_of(double_barrier_round::ready),
                                             round.write(),
                                             create_mode::persistent,
                                             at_->as.access)};
    for (const std::string& name : round.members) {
        all.push_back(request::check(path_of(name)));
    }
    core()->submit(request::multi(std::move(all)),
                   here([this, round = std::move(round)](const reply& r) {
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
        if_counted_on(ready.stat.czxid, [this, version, round = *std::move(round)](bool counted) {
            counted ? pass(round) : start_anew(version);
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

/// Whether that round has counted the znode that exists now. A participant may have created its
/// znode twice, because an answer was lost. The round may have counted the first one before another
/// client deleted it.
void double_barrier_enter::if_counted_on(std::int64_t begun, std::function<void(bool)> then) {
    if (!at_->in_doubt) {
        then(true);
        return;
    }
    core()->submit(request::get(path_of(at_->own)),
                   here([this, begun, then = std::move(then)](const reply& own) {
                       if (own.ok() || own.code == result_code::no_node) {
                           then(own.ok() && own.stat.czxid < begun);
                       } else {
                           refused(own, path_of(at_->own));
                       }
                   }));
}

/// Uses a name that no other participant has counted, unless a round that counts on this one has
/// begun.
void double_barrier_enter::start_anew(std::int32_t version) {
    core()->submit(removal(version), here([this](const reply& r) { look_unless_refused(r); }));
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

}  // namespace latchkey
