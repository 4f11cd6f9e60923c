#include "barrier/double_barrier_enter.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

// How a round begins, and what is made of one that is on.

namespace latchkey {

/// If everybody is still there, and nothing has happened since the look. The write makes the
/// version one that no earlier round has seen. Of a crowd, some have to wait for the next one.
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
                           look_unless_refused(r);  // somebody came between, or has gone
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
        // All of it were lost, or who left last could not clear it away.
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

/// Whether that round has seen the znode that is there now. Who has created it twice, because an
/// answer was lost, may have been counted on before somebody deleted the first one.
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

/// With a name that nobody has counted on, unless a round has begun that does.
void double_barrier_enter::start_anew(std::int32_t version) {
    core()->submit(removal(version), here([this](const reply& r) { look_unless_refused(r); }));
}

/// It has no list of who is in it.
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
                           wait({at_->own}, true);  // nobody knows who else waits
                       }
                   }));
}

/// Who keeps watch tells the others, whom only the directory's version tells anything. If that is
/// not what it was before the look, this round may be over.
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
