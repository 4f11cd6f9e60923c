#include "queue/attempt.hpp"

#include "client/until_answered.hpp"
#include "queue/queue_look.hpp"
#include "queue/quorum_check.hpp"
#include "text/guid.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// Creates the records, all or none, if the znodes are there: `multi[check znodes..., create
/// records...]`. Ends with `ok` when they are there, whatever requests and answers are lost. In one
/// session. All parameters outlive the task.
task<result_code> create_records(client_core& core, const queue_recipe& recipe, own_znodes& of) {
    std::vector<request> all;
    for (const std::string& own : of.paths()) {
        all.push_back(request::check(own));
        of.records.push_back(
            join_path(parent_of(own), name_of_delay(recipe.options().lock_delay, own)));
    }
    for (const std::string& record : of.records) {
        all.push_back(request::create(
            record, recipe.data(recipe.mode), create_mode::persistent, *recipe.access));
    }
    auto writing = until_answered(core, request::multi(std::move(all)));
    const reply r = co_await writing;
    // No other participant has this number: it was done before, and the answer was lost.
    co_return r.code == result_code::node_exists ? result_code::ok : r.code;
}

}  // namespace

void attempt::start() {
    running_.start(join(), [this](std::optional<end> over) {
        if (when_gone_) {
            delete_znodes();
        } else {
            over ? finish(*std::move(over)) : wait_until_first();
        }
    });
}

// ---- joining ----

/// Ends with nothing when it is in the queue, or was given up.
task<std::optional<attempt::end>> attempt::join() {
    if (only_if_first_) {
        auto looking = look_at_queues(core_, recipe_);
        queues_seen seen = co_await looking;
        const bool news = seen.directories_exist && !directory_known_;
        for (const std::string& path : news ? recipe_->all_paths() : std::vector<std::string>()) {
            core_->look_at_access(path, *recipe_->access);  // as the client that creates them does
        }
        directory_known_ = seen.directories_exist;
        if (!seen.free) {
            co_return end{step_end::refused, std::move(seen.why)};
        }
    }
    create_ = std::make_unique<protected_create>(core_, recipe_, directory_known_);
    std::function<void()> ask_early;
    if (recipe_->step_maker) {
        step_ = recipe_->step_maker->make_step(core_, recipe_, [this](failure why) {
            finish({step_end::refused, std::move(why)});
        });
        first_since_joining_ = true;
        ask_early = [this] { step_->ask_early(); };
    }
    auto creating = create_->run(std::move(ask_early));
    protected_create::joined j = co_await creating;
    note_joined(j);
    if (when_gone_) {
        co_return std::nullopt;
    }
    if (j.why) {
        co_return end{step_end::refused, std::move(j.why)};
    }
    owner_.on_confirmed();
    if (j.listed) {
        listed_ = std::move(j.lists);
    }
    co_return std::nullopt;
}

void attempt::note_joined(const protected_create::joined& j) {
    create_.reset();
    first_since_joining_ =
        first_since_joining_ && ((j.listed && !j.found) || (step_ && step_->asks_behind_each_list));
    set_znodes(j.paths);
    zxid_ = j.zxid;
    directory_known_ = directory_known_ || is_confirmed();
}

void attempt::set_znodes(const std::vector<std::string>& paths) {
    znodes_ = {};
    for (const std::string& path : paths) {
        own_znode::owner& self = *this;
        znodes_.in_queues.push_back(std::make_shared<own_znode>(*core_, path, self));
    }
}

// ---- waiting ----

/// Begins with new lists, unless those of the create are at hand.
void attempt::wait_until_first() {
    queue_wait::owner& self = *this;
    waits_.emplace(core_, recipe_, znodes_, rule(), self);
    running_.start(waits_->run(std::exchange(listed_, {})), [this](queue_wait::end how) {
        if (how.what != step_end::done) {
            finish({how.what, std::move(how.why)});
        } else {
            is_first_ = true;
            told_ = std::move(how.told);
            if (told_) {
                // The one ahead may have written what no read of this connection shows yet.
                core_->read_behind_a_write();
                waits_.reset();
            }
            running_.start(until_granted(), [this](end e) { finish(std::move(e)); });
        }
    });
}

/// The first everywhere takes the recipe's last step, and proves its session.
task<attempt::end> attempt::until_granted() {
    const auto& znodes = znodes_.in_queues;
    bool look_for_them = znodes.size() > 1 && std::ranges::any_of(znodes, [](const auto& z) {
                             return z->is_doubtful();
                         });
    std::any seen;
    if (step_) {
        waits_.reset();
        auto taking = step_->take({.znode = *znodes.front(),
                                   .zxid = zxid_,
                                   .first_since = first_since_joining_,
                                   .wait = !only_if_first_,
                                   .told = told_.get()});
        last_step::end taken = co_await taking;
        if (taken.what != step_end::done) {
            co_return end{taken.what, std::move(taken.why)};
        }
        if (!taken.new_paths.empty()) {
            set_znodes(taken.new_paths);
        }
        zxid_ = taken.zxid != 0 ? taken.zxid : zxid_;
        turn_ = taken.turn;
        look_for_them = taken.found;
        seen = std::move(taken.seen);
        step_.reset();
    }
    auto proving = prove(look_for_them);
    const result_code code = co_await proving;
    if (code == result_code::no_node) {
        co_return end{step_end::gone};
    }
    if (code != result_code::ok) {
        co_return end{step_end::refused, failure_of(code, recipe_->directory)};
    }
    co_return end{step_end::done, {}, granted(std::move(seen))};
}

void attempt::on_listing() {
    if (step_ && step_->asks_behind_each_list) {
        step_->ask_early();
    }
}

bool attempt::on_placed(own_znode& z, const queue_verdict& v) {
    first_since_joining_ = first_since_joining_ && v.ahead == 0;
    if (only_if_first_ && v.ahead > 0) {
        return false;
    }
    if (z.note_place()) {
        const queue_position place{z.path(), v.ahead, v.blocker};
        owner_.on_place(&place);
    }
    return true;
}

void attempt::session_connected() {
    if (is_first_) {
        for (const auto& z : znodes_.in_queues) {
            z->watch_again_if_not();
        }
    } else if (waits_) {
        waits_->session_connected();
    }
}

// ---- the first everywhere ----

/// It is to be granted once it is known by which token, and once the session may be believed.
task<result_code> attempt::prove(bool look_for_them) {
    for (const auto& z : znodes_.in_queues) {
        zxid_ = zxid_ != 0 ? zxid_ : z->czxid();
    }
    if (zxid_ == 0) {
        auto asking = until_answered(*core_, request::get(znodes_.in_queues.front()->path()));
        const reply r = co_await asking;
        if (!r.ok()) {
            co_return r.code;
        }
        zxid_ = r.stat.czxid;
    }
    if (recipe_->options().lock_delay.count() > 0) {
        auto created = create_records(*core_, *recipe_, znodes_);
        const result_code code = co_await created;
        if (code != result_code::ok) {
            co_return code;
        }
        look_for_them = false;
    }
    auto checked = quorum_check(*core_, znodes_.paths(), look_for_them);
    const result_code code = co_await checked;
    co_return code;
}

attempt::grant attempt::granted(std::any seen) {
    if (waits_) {
        waits_->publish_front();
    }
    return {.znodes = std::move(znodes_),
            .zxid = zxid_,
            .turn = turn_,
            .revocation_requested = revocation_requested_,
            .seen = std::move(seen),
            .direct = told_ != nullptr};
}

// ---- the end ----

/// The next place is at the tail: a znode of ours ahead of it would be waited for without end.
void attempt::finish(end e) {
    if (e.what == step_end::gone) {
        core_->deletes().add(znodes_.paths_with_records(), nullptr);
    }
    const auto ended = ended_;
    ended(std::move(e));
}

void attempt::give_up(std::function<void()> gone) {
    when_gone_ = std::move(gone);
    if (create_) {
        create_->give_up();
    }
    if (!(create_ && create_->has_sent()) && !moving_) {
        delete_znodes();
    }
}

void attempt::delete_znodes() {
    const auto there = znodes_.paths_with_records();
    running_.drop();
    waits_.reset();
    znodes_ = {};
    step_.reset();
    if (there.empty()) {
        std::exchange(when_gone_, nullptr)();
        return;
    }
    core_->deletes().add(there, [gone = std::move(when_gone_)](bool) { gone(); });
}

// ---- moving ----

void attempt::move_behind(const std::string& leader,
                          request invitation,
                          std::function<void(const std::string&)> done) {
    const queue_place place = place_of(leader, recipe_->markers);
    const bool ahead =
        waits_ && place.what == queue_place::standing::participant &&
        place.sequence < place_of(znodes_.in_queues.front()->path(), recipe_->markers).sequence;
    if (!ahead || !core_->connected()) {
        done({});
        return;
    }
    own_znode& own = *znodes_.in_queues.front();
    moving_ = true;
    running_.drop();
    waits_.reset();
    own.stop_watching();
    const std::string to = join_path(recipe_->directory,
                                     protected_prefix(guid(core_->loop())) +
                                         std::string(recipe_->markers.get().exclusive) +
                                         leader.substr(leader.size() - sequence_digits));
    running_.start(
        swap_znodes(
            core_,
            {request::create(
                to, recipe_->data(recipe_->mode), create_mode::ephemeral, *recipe_->access)},
            {request::check(join_path(recipe_->directory, leader)), std::move(invitation)},
            own.path()),
        [this, to, done = std::move(done)](const swapped& s) {
            on_moved(s, to);
            done(s.what == swapped::kind::done ? to : std::string());
        });
}

void attempt::on_moved(const swapped& s, const std::string& to) {
    moving_ = false;
    if (s.what == swapped::kind::done) {
        set_znodes({to});
        zxid_ = 0;
        first_since_joining_ = false;
        behind_twin_ = true;
    }
    if (when_gone_) {
        delete_znodes();
    } else if (s.what == swapped::kind::gone) {
        finish({step_end::gone});
    } else {
        wait_until_first();
    }
}

}  // namespace latchkey::inline v0
