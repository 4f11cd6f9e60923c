#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier/barrier_change.hpp"
#include "barrier_calls.hpp"
#include "refused_use.hpp"
#include "stepped_outcome.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

// ---- barrier ----

/// What barrier::set() and remove() wait for, which a stepped ensemble lets nobody do.
class barrier_changes final : public refused_use {
public:
    barrier_changes(const refused_stage& on, bool stand) : on_(on), stand_(stand) {
        if (!stand) {
            on.in.create("/b");
        }
    }

    void begin() override {
        change_ = std::make_shared<outcome>();
        const auto core = client_core::of(on_.mine);
        queue_recipe as{.directory = "/b", .markers = no_participants, .access = core->access()};
        as.set_options([](queue_options& own) { own.data = std::string(); });
        const auto e =
            stand_ ? barrier_change::to_stand(core, as) : barrier_change::to_be_gone(core, as);
        e->start(for_ever, {}, [o = change_](const retrying_call<bool>::result& r) {
            o->done = true;
            o->passed = r.value;
        });
    }

    bool goes_on() override {
        const auto done = [this] {
            return on_.in.run_until([this] { return change_->done; }, 60s);
        };
        if (done() && !change_->passed) {
            begin();
        }
        return done() && change_->passed && on_.in.exists("/b") == stand_;
    }

private:
    const refused_stage on_;
    const bool stand_;
    std::shared_ptr<outcome> change_;
};

class barrier_waits final : public refused_use {
public:
    barrier_waits(const refused_stage& on, bool already)
        : on_(on), b_(on.mine, "/b"), already_(already) {
        on.in.create("/b");
        if (already) {
            ask();
            on.in.run_for(1s);
        }
    }

    void begin() override {
        if (already_) {
            on_.in.cut(on_.mine.session_id());
        } else {
            ask();
        }
    }

    bool goes_on() override {
        on_.in.remove("/b");
        const auto done = [this] { return on_.in.run_until([this] { return wait_->done; }, 60s); };
        if (done() && !wait_->passed) {
            ask();
        }
        return done() && wait_->passed;
    }

private:
    void ask() {
        wait_ = std::make_shared<outcome>();
        b_.async_wait(for_ever, {}, outcome::into(wait_, on_.in));
    }

    const refused_stage on_;
    barrier b_;
    const bool already_;
    std::shared_ptr<outcome> wait_;
};

// ---- double barrier ----

class double_barrier_use final : public refused_use {
public:
    enum class what { enters_alone, enters_last, waits_again, leaves_first, leaves_last };

    double_barrier_use(const refused_stage& on, what w)
        : on_(on), w_(w), mine_(on.mine, "/d", 2), other_(on.other, "/d", 2) {
        if (w == what::enters_last) {
            other_call_ = enter(other_, on.in);
        } else if (w == what::waits_again) {
            call_ = enter(mine_, on.in);
        } else if (w != what::enters_alone) {
            const auto in = enter(other_, on.in);
            static_cast<void>(done(enter(mine_, on.in)) && done(in));
        }
        if (w == what::leaves_last) {
            other_call_ = leave(other_, on.in);
        }
        on.in.run_for(1s);
    }

    void begin() override {
        if (w_ == what::waits_again) {
            on_.in.cut(on_.mine.session_id());
            return;
        }
        const bool leaves = w_ == what::leaves_first || w_ == what::leaves_last;
        call_ = leaves ? leave(mine_, on_.in) : enter(mine_, on_.in);
    }

    bool goes_on() override {
        const bool entered = w_ == what::enters_alone || w_ == what::waits_again;
        if (entered && !call_->done) {
            other_call_ = enter(other_, on_.in);
        } else if (w_ == what::leaves_first) {
            other_call_ = leave(other_, on_.in);
        }
        return done(call_) && round();
    }

private:
    [[nodiscard]] bool done(const std::shared_ptr<outcome>& o) const {
        return on_.in.run_until([&] { return o->done; }, 60s);
    }

    /// All of it once more, when both are out. The call may have failed for good; if the other
    /// waits to enter by then, somebody has to come.
    bool round() {
        if (!mine_.inside() && other_call_ && !other_call_->done) {
            on_.in.run_for(10s);
            if (!other_call_->done && !done(enter(mine_, on_.in))) {
                return false;
            }
        }
        if (other_call_ && !done(other_call_)) {
            return false;
        }
        std::vector<std::shared_ptr<outcome>> leaving;
        for (double_barrier* b : {&mine_, &other_}) {
            if (b->inside()) {
                leaving.push_back(leave(*b, on_.in));
            }
        }
        const bool left =
            std::all_of(leaving.begin(), leaving.end(), [this](const auto& o) { return done(o); });
        if (!left || !on_.in.run_until([this] { return on_.in.children("/d").empty(); }, 60s)) {
            return false;
        }
        const auto in = enter(other_, on_.in);
        if (!done(enter(mine_, on_.in)) || !done(in) || !in->passed) {
            return false;
        }
        const auto out = leave(other_, on_.in);
        return done(leave(mine_, on_.in)) && done(out) && out->passed;
    }

    const refused_stage on_;
    const what w_;
    double_barrier mine_;
    double_barrier other_;
    std::shared_ptr<outcome> call_;
    std::shared_ptr<outcome> other_call_;
};

// ---- group ----

class member_kind final : public refused_use {
public:
    enum class what { joins, is_there, writes, leaves };

    member_kind(const refused_stage& on, what w) : on_(on), w_(w), mine_(on.mine, "/g") {
        if (w != what::joins) {
            join();
            on.in.run_for(1s);
        }
    }

    void begin() override {
        switch (w_) {
            case what::joins:
                join();
                break;
            case what::is_there:
                on_.in.remove("/g/name");
                break;
            case what::writes:
                joined_->member.set_data("new");
                break;
            case what::leaves:
                joined_->member.leave();
                break;
        }
    }

    bool goes_on() override {
        const auto is_there = [this] {
            const auto z = on_.in.get("/g/name");
            return joined_->member.present() && z && z->ephemeral_owner == on_.mine.session_id() &&
                   z->data == (w_ == what::writes ? "new" : "");
        };
        if (w_ == what::leaves &&
            !on_.in.run_until([&] { return !on_.in.exists("/g/name"); }, 60s)) {
            return false;
        }
        if (!on_.in.run_until([&] { return joined_->done; }, 60s)) {
            return false;
        }
        if (!joined_->member) {
            join();
        }
        return on_.in.run_until(is_there, 60s);
    }

private:
    struct entry {
        bool done = false;
        membership member;
    };

    void join() {
        joined_ = std::make_shared<entry>();
        mine_.async_join("name",
                         for_ever,
                         {.data = {}, .stop = {}},
                         [j = joined_](std::error_code, membership m) {
                             j->done = true;
                             j->member = std::move(m);
                         });
    }

    const refused_stage on_;
    const what w_;
    group mine_;
    std::shared_ptr<entry> joined_;
};

class group_watcher final : public refused_use {
public:
    group_watcher(const refused_stage& on, bool already) : on_(on), mine_(on.mine, "/g") {
        on.in.create("/g");
        on.in.create("/g/one");
        if (already) {
            watch();
        }
        on.in.run_for(1s);
    }

    void begin() override {
        if (!watching_) {
            watch();
            return;
        }
        on_.in.create("/g/two");
        on_.in.set("/g/one", "new");
        on_.in.remove("/g/two");
    }

    bool goes_on() override {
        on_.in.create("/g/three", "x");
        return on_.in.run_until([this] { return seen_.size() == 2 && seen_[1].data == "x"; }, 60s);
    }

private:
    void watch() {
        watching_.emplace(mine_.on_change([this](const auto& all) { seen_ = all; }));
    }

    const refused_stage on_;
    group mine_;
    std::vector<group_member> seen_;
    std::optional<subscription> watching_;
};

}  // namespace

std::vector<refused_use_kind> uses_of_meetings() {
    using round = double_barrier_use::what;
    using part = member_kind::what;
    std::vector<refused_use_kind> all;
    const auto two = [&all]<class Use>(const Use*, const char* name, auto how) {
        all.push_back(
            {name, [how](const refused_stage& on) { return std::make_unique<Use>(on, how); }});
    };
    constexpr const barrier_changes* change = nullptr;
    constexpr const barrier_waits* wait = nullptr;
    constexpr const double_barrier_use* meeting = nullptr;
    constexpr const member_kind* member = nullptr;
    constexpr const group_watcher* watcher = nullptr;
    two(change, "BarrierSet", true);
    two(change, "BarrierRemoved", false);
    two(wait, "BarrierWait", false);
    two(wait, "BarrierWaitAgain", true);
    two(meeting, "DoubleBarrierEnteredAlone", round::enters_alone);
    two(meeting, "DoubleBarrierEnteredLast", round::enters_last);
    two(meeting, "DoubleBarrierWaitAgain", round::waits_again);
    two(meeting, "DoubleBarrierLeftFirst", round::leaves_first);
    two(meeting, "DoubleBarrierLeftLast", round::leaves_last);
    two(member, "GroupJoined", part::joins);
    two(member, "GroupMember", part::is_there);
    two(member, "GroupMembersData", part::writes);
    two(member, "GroupLeft", part::leaves);
    two(watcher, "GroupWatch", false);
    two(watcher, "GroupWatched", true);
    return all;
}

}  // namespace latchkey::test
