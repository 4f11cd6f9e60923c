#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_mode.hpp>
#include <latchkey/lock_options.hpp>

#include "ensemble/virtual/random_source.hpp"
#include "plan.hpp"
#include "simulation.hpp"
#include "truth.hpp"
#include "uncopied.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::simulation {

class caller;
class judge;
class program;
struct stage;

/// What a caller asks for.
struct wish {
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 1;
};

/// "", " shared", " 3 permits": what there is to say of it in a tale.
[[nodiscard]] std::string to_string(const wish& w);

/// An object of a recipe, in the hands of one program.
class used_object : public test::uncopied {
public:
    using handler = std::function<void(std::error_code, hold)>;
    using limit = std::optional<std::chrono::nanoseconds>;  ///< none: for ever

    explicit used_object(lock_options o = {}) : times(std::move(o)) {}

    virtual void acquire(const wish& w, limit l, acquire_options how, handler done) = 0;

    /// What it was told to be the limit of permits.
    [[nodiscard]] virtual std::optional<std::uint32_t> stated_limit() const { return std::nullopt; }

    /// Gives the hold back, in another mode perhaps. Asked of those only whose recipe draws modes
    /// to change to.
    virtual void convert(hold h, lock_mode to, limit l, acquire_options how, handler done);

    const lock_options times;
};

/// One that is held by one caller at a time.
template <class Lock>
class used_lock final : public used_object {
public:
    template <class Where>
    used_lock(client& c, const Where& where, const lock_options& o)
        : used_object(o), lock_(c, where, o) {}

    void acquire(const wish&, limit l, acquire_options how, handler done) override {
        if (l) {
            lock_.async_acquire(*l, std::move(how), std::move(done));
        } else {
            lock_.async_acquire(std::move(how), std::move(done));
        }
    }

private:
    Lock lock_;
};

/// The times of one object, if the plan says that there are some.
[[nodiscard]] lock_options draw_times(stage& s, bool may_delay = true);

/// The same of a lock whose callers may take turns in one place.
[[nodiscard]] lock_options draw_times_and_turns(stage& s);

/// What is different from one recipe to the next. Everything else of a run is the same for all.
class lock_recipe : public test::uncopied {
public:
    /// `paths` are below the client's chroot; more than one if the plan says so.
    [[nodiscard]] virtual std::unique_ptr<used_object> make(
        stage& s, client& c, const std::vector<std::string>& paths) const = 0;

    /// Who uses the object of that number.
    [[nodiscard]] virtual std::shared_ptr<caller> make_caller(program& of,
                                                              std::size_t object,
                                                              std::string name) const;

    [[nodiscard]] virtual std::unique_ptr<judge> judge_of(stage& s) const = 0;

    /// How its participants are called.
    [[nodiscard]] virtual naming names() const { return {}; }

    /// Whether the callers of one object wait for each other before they take part in a queue.
    [[nodiscard]] virtual bool one_at_a_time() const { return true; }

    /// In how many queues a caller of this one waits at once.
    [[nodiscard]] virtual std::size_t queues_of(const plan::object&) const { return 1; }

    /// Makes a plan for mutexes one for these.
    virtual void adapt(plan&, model::random_source&) const {}

    [[nodiscard]] virtual wish draw_wish(const plan&, model::random_source&) const { return {}; }

    /// What a client does about an object now and then, also while there are faults.
    virtual void meanwhile(stage&, const plan::object&) const {}

    /// Undoes what meanwhile() did, when all is to be well again.
    virtual void restore(stage&, const std::string&) const {}

    /// What an operator deletes or writes to who is after that participant.
    [[nodiscard]] virtual std::string victim(stage&, const participant& p) const { return p.path; }

    /// What a holder changes its mode to, if it does that now.
    [[nodiscard]] virtual std::optional<lock_mode> draw_change(model::random_source&,
                                                               lock_mode) const {
        return std::nullopt;
    }
};

/// A recipe whose callers make their own objects, and acquire nothing.
class callers_recipe : public lock_recipe {
public:
    /// Nobody uses objects that are shared.
    [[nodiscard]] std::unique_ptr<used_object> make(stage&,
                                                    client&,
                                                    const std::vector<std::string>&) const final {
        return nullptr;
    }

    [[nodiscard]] std::shared_ptr<caller> make_caller(program& of,
                                                      std::size_t object,
                                                      std::string name) const override = 0;

    [[nodiscard]] bool one_at_a_time() const final { return false; }
};

[[nodiscard]] std::unique_ptr<used_object> make_used_mutex(client& c,
                                                           const std::string& path,
                                                           const lock_options& times = {});

[[nodiscard]] const lock_recipe& recipe_of(recipe_kind k);

}  // namespace latchkey::simulation
