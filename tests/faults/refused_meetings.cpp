#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier_calls.hpp"
#include "recipe_forms.hpp"
#include "refused_use.hpp"
#include "stepped_outcome.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

// ---- barrier ----

/// A call that is made again if it has failed while servers refused.
class barrier_use : public refused_use {
public:
    using refused_use::refused_use;

    bool goes_on() override {
        if (over() && !call_->passed) {
            ask();
        }
        return over() && call_->passed;
    }

protected:
    virtual void call(std::function<void(std::error_code, bool)> h) = 0;

    void ask() {
        call_ = std::make_shared<outcome>();
        call(outcome::into(call_, on_.in));
    }

private:
    [[nodiscard]] bool over() const {
        return on_.comes([this] { return call_->done; });
    }

    std::shared_ptr<outcome> call_;
};

class barrier_changes final : public barrier_use {
public:
    barrier_changes(const refused_stage& on, bool stand) : barrier_use(on), stand_(stand) {
        if (!stand) {
            on.in.create("/b");
        }
    }

    void begin() override { ask(); }

    bool goes_on() override { return barrier_use::goes_on() && on_.in.exists("/b") == stand_; }

private:
    void call(std::function<void(std::error_code, bool)> h) override {
        change_barrier(on_.mine, "/b", stand_, for_ever, {}, std::move(h));
    }

    const bool stand_;
};

class barrier_waits final : public barrier_use {
public:
    barrier_waits(const refused_stage& on, bool already) : barrier_use(on), already_(already) {
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
        return barrier_use::goes_on();
    }

private:
    void call(std::function<void(std::error_code, bool)> h) override {
        b_.async_wait(for_ever, {}, std::move(h));
    }

    barrier b_{on_.mine, "/b"};
    const bool already_;
};

// ---- double barrier ----

class double_barrier_use final : public refused_use {
public:
    enum class what { enters_alone, enters_last, waits_again, leaves_first, leaves_last };

    double_barrier_use(const refused_stage& on, what w) : refused_use(on), w_(w) {
        if (w == what::enters_last) {
            other_call_ = enter(other_, on.in);
        } else if (w == what::waits_again) {
            call_ = enter(mine_, on.in);
        } else if (w != what::enters_alone) {
            static_cast<void>(both(enter));
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
        return done(call_) && other_is_through() && all_are_out() && both(enter) && both(leave);
    }

private:
    using call = std::shared_ptr<outcome> (*)(double_barrier&, const testing::ensemble&);

    [[nodiscard]] bool done(const std::shared_ptr<outcome>& o) const {
        return on_.comes([&] { return o->done; });
    }

    [[nodiscard]] bool both(call act) {
        const auto theirs = act(other_, on_.in);
        return done(act(mine_, on_.in)) && done(theirs) && theirs->passed;
    }

    /// The call may have failed for good; if the other waits to enter by then, somebody has to
    /// come.
    [[nodiscard]] bool other_is_through() {
        if (!mine_.inside() && other_call_ && !other_call_->done) {
            on_.in.run_for(10s);
            if (!other_call_->done && !done(enter(mine_, on_.in))) {
                return false;
            }
        }
        return !other_call_ || done(other_call_);
    }

    [[nodiscard]] bool all_are_out() {
        std::vector<std::shared_ptr<outcome>> leaving;
        for (double_barrier* b : {&mine_, &other_}) {
            if (b->inside()) {
                leaving.push_back(leave(*b, on_.in));
            }
        }
        for (const auto& o : leaving) {
            if (!done(o)) {
                return false;
            }
        }
        return on_.comes([this] { return on_.in.children("/d").empty(); });
    }

    const what w_;
    double_barrier mine_{on_.mine, "/d", 2};
    double_barrier other_{on_.other, "/d", 2};
    std::shared_ptr<outcome> call_;
    std::shared_ptr<outcome> other_call_;
};

// ---- group ----

class member_kind final : public refused_use {
public:
    enum class what { joins, is_there, writes, leaves };

    member_kind(const refused_stage& on, what w) : refused_use(on), w_(w) {
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
        if (w_ == what::leaves && !on_.comes([&] { return !on_.in.exists("/g/name"); })) {
            return false;
        }
        if (!on_.comes([&] { return joined_->done; })) {
            return false;
        }
        if (!joined_->member) {
            join();
        }
        return on_.comes([this] {
            const auto z = on_.in.get("/g/name");
            return joined_->member.present() && z && z->ephemeral_owner == on_.mine.session_id() &&
                   z->data == (w_ == what::writes ? "new" : "");
        });
    }

private:
    struct entry {
        bool done = false;
        membership member;
    };

    void join() {
        joined_ = std::make_shared<entry>();
        mine_.async_join("name", for_ever, {}, [j = joined_](std::error_code, membership m) {
            *j = {.done = true, .member = std::move(m)};
        });
    }

    const what w_;
    group mine_{on_.mine, "/g"};
    std::shared_ptr<entry> joined_;
};

class group_watcher final : public refused_use {
public:
    group_watcher(const refused_stage& on, bool already) : refused_use(on) {
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
        return on_.comes([this] { return seen_.size() == 2 && seen_[1].data == "x"; });
    }

private:
    void watch() {
        watching_.emplace(mine_.on_change([this](const auto& all) { seen_ = all; }));
    }

    group mine_{on_.mine, "/g"};
    std::vector<group_member> seen_;
    std::optional<subscription> watching_;
};

}  // namespace

std::vector<refused_use_kind> uses_of_meetings() {
    using round = double_barrier_use::what;
    using part = member_kind::what;
    return {refused<barrier_changes>("BarrierSet", true),
            refused<barrier_changes>("BarrierRemoved", false),
            refused<barrier_waits>("BarrierWait", false),
            refused<barrier_waits>("BarrierWaitAgain", true),
            refused<double_barrier_use>("DoubleBarrierEnteredAlone", round::enters_alone),
            refused<double_barrier_use>("DoubleBarrierEnteredLast", round::enters_last),
            refused<double_barrier_use>("DoubleBarrierWaitAgain", round::waits_again),
            refused<double_barrier_use>("DoubleBarrierLeftFirst", round::leaves_first),
            refused<double_barrier_use>("DoubleBarrierLeftLast", round::leaves_last),
            refused<member_kind>("GroupJoined", part::joins),
            refused<member_kind>("GroupMember", part::is_there),
            refused<member_kind>("GroupMembersData", part::writes),
            refused<member_kind>("GroupLeft", part::leaves),
            refused<group_watcher>("GroupWatch", false),
            refused<group_watcher>("GroupWatched", true)};
}

}  // namespace latchkey::test
