#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/mutex.hpp>

#include "chaos_worker.hpp"
#include "fenced_register.hpp"
#include "turn_log.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {

[[nodiscard]] history::nanoseconds boottime_now();

/// What is held: the clock first, its validity last.
template <class Held>
[[nodiscard]] history::observation look(const Held& h) {
    history::observation o{.at = boottime_now(), .valid_until = h.valid_until().time_since_epoch()};
    o.valid = h.valid();
    return o;
}

/// What the threads of a worker process share.
struct worker_tools {
    const chaos_order& order;
    client& zk;
    history::turn_log& log;
    std::vector<std::unique_ptr<mutex>> shared = {};  ///< of recipe::kept_mutex
    std::atomic<std::int64_t> attempts = 0;
    std::atomic<int> threads = 0;  ///< that have begun
};

/// One thread of a worker: it takes one turn after the other, by chance, and tells of it.
class turns {
public:
    virtual ~turns() = default;
    turns(const turns&) = delete;
    turns& operator=(const turns&) = delete;

    void take_until(const std::stop_token& stop);

protected:
    turns(worker_tools& tools, std::uint64_t seed);

    virtual void take_one(const std::stop_token& stop) = 0;

    /// Whether an acquire may end so: what a single question meets while servers are away.
    [[nodiscard]] virtual bool excuses(const error& e, const history::wish& asked) const;

    [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }

    template <class Choices>
    [[nodiscard]] auto& one_of(Choices& choices) {
        return choices[below(choices.size())];
    }

    [[nodiscard]] const chaos_order& order() const { return tools_.order; }

    /// Of those of the process: 0, 1, ...
    [[nodiscard]] int thread() const { return thread_; }

    [[nodiscard]] client& zk() { return tools_.zk; }

    /// The objects that all threads use.
    [[nodiscard]] std::vector<std::unique_ptr<mutex>>& shared() { return tools_.shared; }

    [[nodiscard]] history::turn_log& log() { return tools_.log; }

    /// Up to twice the session timeout.
    [[nodiscard]] std::chrono::milliseconds some_time() {
        return order().session_timeout * static_cast<int>(below(100)) / 50;
    }

    /// Does what a program does between two steps.
    void work_a_little();
    /// So many steps.
    [[nodiscard]] std::size_t some_steps();

    /// Begins an attempt: its number.
    [[nodiscard]] std::int64_t invoke(const history::wish& asked);
    /// Tells of its places.
    [[nodiscard]] acquire_options options(std::int64_t attempt, const std::stop_token& stop);

    /// Asks a recipe's object. Most wait; some ask once, and some leave the queue again.
    template <class Recipe, class... Wish>
    [[nodiscard]] hold ask_for(Recipe& object, acquire_options o, Wish... wanted) {
        switch (below(8)) {
            case 0:
                return object.try_acquire(wanted...);
            case 1:
                return object.try_acquire_for(wanted..., some_time(), std::move(o));
            default:
                return object.acquire(wanted..., std::move(o));
        }
    }

    /// An attempt, and what is done with the hold; `use` tells of its end, before the release.
    void attempt(const history::wish& asked,
                 const std::function<hold(std::int64_t attempt)>& ask,
                 const std::function<void(hold&, std::int64_t attempt)>& use);

    void tell_granted(std::int64_t attempt, const hold& h);
    /// The last look at it.
    void tell_ended(std::int64_t attempt, const hold& h);
    void tell_failure(std::int64_t attempt, const history::wish& asked, const error& e);

    /// A program that guards what it does: the token first, then read, and write only while the
    /// hold is valid. To the numbers of all these locks.
    template <class Held>
    void work(const Held& h, const std::vector<std::string>& on, std::int64_t attempt) {
        work_under(
            number_of(h.token()), [&h] { return look(h); }, on, attempt);
    }

    /// What orders the holders of a lock: the turn, too, where a place may stay after its release.
    [[nodiscard]] std::int64_t number_of(fencing_token token) const {
        return order().what == recipe::kept_mutex || order().what == recipe::leader_latch
                   ? token.value()
                   : token.zxid;
    }

    /// Has it for a while, and looks at it; `where` is where it can be noticed.
    void linger(const hold& h, const std::string& where, std::int64_t attempt);

    /// Shows that it has something beside others.
    void show(const std::string& where) { static_cast<void>(register_.claim(where, 0)); }

private:
    void work_under(std::int64_t token,
                    const std::function<history::observation()>& look_at_it,
                    const std::vector<std::string>& on,
                    std::int64_t attempt);

    worker_tools& tools_;
    int thread_;
    std::mt19937_64 random_;
    register_connection register_;
};

/// With an object of its own for each lock.
template <class Recipe>
class turns_with : public turns {
public:
    template <class... Options>
    turns_with(worker_tools& tools, std::uint64_t seed, const Options&... options)
        : turns(tools, seed) {
        for (int lock = 0; lock < order().locks; ++lock) {
            objects_.push_back(std::make_unique<Recipe>(zk(), order().path(lock), options...));
        }
    }

protected:
    [[nodiscard]] Recipe& some() { return *one_of(objects_); }

private:
    std::vector<std::unique_ptr<Recipe>> objects_;
};

/// What the threads of a process share, if they do: to be made before they begin.
[[nodiscard]] std::vector<std::unique_ptr<mutex>> shared_mutexes(const chaos_order& o, client& zk);

/// Of the recipe that the order names.
[[nodiscard]] std::unique_ptr<turns> make_turns(worker_tools& tools, std::uint64_t seed);

/// Those of leaders; nothing if the recipe is another one.
[[nodiscard]] std::unique_ptr<turns> make_terms(worker_tools& tools, std::uint64_t seed);

}  // namespace latchkey::test
