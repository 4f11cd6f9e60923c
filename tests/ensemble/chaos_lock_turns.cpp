// Turns with locks of all kinds, permits, and rounds of a double barrier.
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "chaos_turns.hpp"
#include "eventually.hpp"
#include "in_time.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// With mutexes, one or several at once.
class exclusive_turns final : public turns_with<mutex> {
public:
    using turns_with::turns_with;

private:
    void take_one(const std::stop_token& stop) override {
        if (order().what == recipe::multi_mutex && below(4) != 0) {
            const std::vector<std::string> paths = several();
            multi_mutex all(zk(), paths);
            take(all, paths, stop);
        } else {
            mutex& lock = some();
            take(lock, {lock.path()}, stop);
        }
    }

    /// Some of the locks, in any order: they overlap with what others take.
    [[nodiscard]] std::vector<std::string> several() {
        std::vector<std::string> paths;
        for (int i = 0; i < order().locks; ++i) {
            paths.push_back(order().path(i));
        }
        while (paths.size() > 2 && below(2) == 0) {
            paths.erase(paths.begin() + static_cast<long>(below(paths.size())));
        }
        std::rotate(
            paths.begin(), paths.begin() + static_cast<long>(below(paths.size())), paths.end());
        return paths;
    }

    template <class Lock>
    void take(Lock& lock, const std::vector<std::string>& paths, const std::stop_token& stop) {
        attempt(
            {.locks = paths},
            [&](std::int64_t number) { return ask_for(lock, options(number, stop)); },
            [&](hold& h, std::int64_t number) {
                work(h, paths, number);
                tell_ended(number, h);
            });
    }
};

/// With objects of all threads, which are granted in any order within the process, beside some of
/// this thread's own. Who wants to be told of a place gets none that was kept.
class kept_turns final : public turns_with<mutex> {
public:
    using turns_with::turns_with;

private:
    void take_one(const std::stop_token& stop) override {
        mutex& lock = below(3) == 0 ? some() : *one_of(shared());
        attempt(
            {.locks = {lock.path()}, .silent = true, .shares_place = true},
            [&](std::int64_t) { return ask_for(lock, {.stop = stop}); },
            [&](hold& h, std::int64_t number) {
                work(h, {lock.path()}, number);
                tell_ended(number, h);
            });
    }
};

class recursive_turns final : public turns_with<recursive_mutex> {
public:
    using turns_with::turns_with;

private:
    void take_one(const std::stop_token& /*stop*/) override {
        recursive_mutex& lock = some();
        const history::wish asked{.locks = {lock.path()}, .silent = true};
        const std::int64_t number = invoke(asked);
        try {
            if (!ask(lock)) {
                log().ended(number, boottime_now());
                return;
            }
        } catch (const error& e) {
            tell_failure(number, asked, e);
            return;
        }
        tell_granted(number, lock.held());
        work(lock.held(), {lock.path()}, number);
        nest(lock, number, 1 + below(3));
        tell_ended(number, lock.held());
        lock.unlock();
    }

    bool ask(recursive_mutex& lock) {
        switch (below(8)) {
            case 0:
                return lock.try_lock();
            case 1:
                return lock.try_lock_for(some_time());
            default:
                lock.lock();
                return true;
        }
    }

    /// Locks it again. That this succeeds says that the hold was not lost when it was asked for.
    void nest(recursive_mutex& lock, std::int64_t number, std::size_t levels) {
        history::observation before = look(lock.held());
        log().saw(number, before);
        if (levels == 0 || !again(lock)) {
            return;
        }
        before.valid = true;
        log().saw(number, before);
        work(lock.held(), {lock.path()}, number);
        nest(lock, number, levels - 1);
        lock.unlock();
    }

    bool again(recursive_mutex& lock) {
        if (below(2) == 0) {
            return lock.try_lock();
        }
        try {
            lock.lock();
            return true;
        } catch (const error& e) {
            return e.code() == errc::hold_lost ? false : throw;
        }
    }
};

constexpr std::array modes{lock_mode::shared, lock_mode::upgrade, lock_mode::exclusive};

/// To read, to write, or to read first and perhaps write; and conversions.
class shared_turns final : public turns_with<shared_mutex> {
public:
    using turns_with::turns_with;

private:
    void take_one(const std::stop_token& stop) override {
        shared_mutex& lock = some();
        const lock_mode mode = below(2) == 0 ? lock_mode::shared : one_of(modes);
        attempt(
            {.locks = {lock.path()}, .mode = mode},
            [&](std::int64_t number) { return ask_for(lock, options(number, stop), mode); },
            [&](hold& h, std::int64_t number) { use(lock, h, number, stop); });
    }

    void use(shared_mutex& lock, hold& h, std::int64_t number, const std::stop_token& stop) {
        act(lock, h, number);
        for (std::size_t changes = below(4); changes > 0; --changes) {
            const lock_mode to = one_of(modes);
            tell_ended(number, h);
            if (to == h.mode() || !h.valid()) {
                return;
            }
            number = converted(lock, h, number, to, stop);
            if (number == 0) {
                return;
            }
            act(lock, h, number);
        }
        tell_ended(number, h);
    }

    void act(const shared_mutex& lock, const hold& h, std::int64_t number) {
        if (h.mode() == lock_mode::exclusive) {
            work(h, {lock.path()}, number);
        } else {
            linger(h, order().beside(lock.path()), number);
        }
    }

    /// The attempt that has the hold now, in whatever mode; 0 if it was lost.
    std::int64_t converted(
        shared_mutex& lock, hold& h, std::int64_t from, lock_mode to, const std::stop_token& stop) {
        history::wish asked{.locks = {lock.path()}, .mode = to, .converts = from};
        const std::int64_t number = invoke(asked);
        try {
            static_cast<void>(
                below(4) == 0 ? lock.try_convert_for(h, to, some_time() / 4, options(number, stop))
                              : lock.convert(h, to, options(number, stop)));
        } catch (const error& e) {
            if (!ended_by_its_limit(e.code())) {
                tell_failure(number, asked, e);
                return 0;
            }
            // It is not converted, as if the time was over while others were ahead.
        }
        if (h.mode() == to) {
            tell_granted(number, h);
            return number;
        }
        log().ended(number, boottime_now());
        asked.mode = h.mode();
        const std::int64_t reached = invoke(asked);
        tell_granted(reached, h);
        return reached;
    }

    [[nodiscard]] bool excuses(const error& e, const history::wish& asked) const override {
        return turns::excuses(e, asked) || (asked.converts && e.code() == errc::hold_lost);
    }
};

/// What a resize leaves at least.
constexpr std::uint32_t fewest = permits_at_first - 1;

/// With permits of a semaphore, which is resized now and then, or of one like Curator's.
template <class Semaphore>
class permit_turns final : public turns_with<Semaphore> {
public:
    using turns_with<Semaphore>::turns_with;

private:
    void take_one(const std::stop_token& stop) override {
        Semaphore& s = this->some();
        if constexpr (std::is_same_v<Semaphore, semaphore>) {
            if (this->below(30) == 0) {
                resize(s);
            }
        }
        const auto permits = static_cast<std::uint32_t>(1 + this->below(permits_at_first));
        this->attempt(
            {.locks = {s.path()}, .permits = permits},
            [&](std::int64_t number) {
                return this->ask_for(s, this->options(number, stop), permits);
            },
            [&](hold& h, std::int64_t number) {
                this->linger(h, chaos_order::beside(s.path()), number);
                this->tell_ended(number, h);
            });
    }

    /// More than there are left after a resize is refused.
    [[nodiscard]] bool excuses(const error& e, const history::wish& asked) const override {
        return turns::excuses(e, asked) ||
               (asked.permits > fewest && e.code() == errc::invalid_argument);
    }

    void resize(semaphore& s) {
        try {
            s.resize(static_cast<std::uint32_t>(fewest + this->below(4)));
        } catch (const error& e) {
            if (!(e.code() == errc::version_mismatch || e.code() == errc::indeterminate ||
                  ended_by_its_limit(e.code()))) {
                throw;
            }
        }
    }
};

class round_turns final : public turns_with<double_barrier> {
public:
    using turns_with::turns_with;

private:
    void take_one(const std::stop_token& stop) override {
        double_barrier& barrier = some();
        const history::wish asked{.locks = {barrier.path()}, .silent = true};
        const std::int64_t number = invoke(asked);
        try {
            const bool entered =
                below(3) == 0 ? barrier.enter(stop) : barrier.enter_for(some_time() / 2, stop);
            if (!entered) {
                log().ended(number, boottime_now());
                return;
            }
            log().granted(number, 0, {}, zk().session_id(), {.at = boottime_now(), .valid = true});
            show(order().beside(barrier.path()));
            work_a_little();
            log().leaving(number, boottime_now());
            const bool all = unless_unreachable([&] {
                return below(4) == 0 ? barrier.leave_for(some_time() / 2, stop)
                                     : barrier.leave(stop);
            });
            log().left(number, boottime_now(), all);
        } catch (const error& e) {
            if (e.code() == errc::participant_lost || e.code() == errc::session_lost) {
                log().left(number, boottime_now(), false);
            } else {
                tell_failure(number, asked, e);
            }
        }
    }
};

}  // namespace

std::vector<std::unique_ptr<mutex>> shared_mutexes(const chaos_order& o, client& zk) {
    static const std::array kinds{
        lock_options{.local_passes = 3, .retain_for = 1h},
        lock_options{.retain_for = 1h},
        lock_options{.local_passes = UINT32_MAX, .local_time = 300ms},
    };
    std::vector<std::unique_ptr<mutex>> all;
    for (int lock = 0; o.what == recipe::kept_mutex && lock < o.locks; ++lock) {
        const lock_options& kept = kinds.at(static_cast<std::size_t>(lock) % kinds.size());
        all.push_back(std::make_unique<mutex>(zk, o.path(lock), kept));
        all.push_back(std::make_unique<mutex>(zk, o.path(lock)));
    }
    return all;
}

std::unique_ptr<turns> make_turns(worker_tools& tools, std::uint64_t seed) {
    switch (tools.order.what) {
        case recipe::recursive_mutex:
            return std::make_unique<recursive_turns>(tools, seed);
        case recipe::kept_mutex:
            return std::make_unique<kept_turns>(tools, seed);
        case recipe::shared_mutex:
            return std::make_unique<shared_turns>(tools, seed);
        case recipe::semaphore:
            return std::make_unique<permit_turns<semaphore>>(tools, seed);
        case recipe::curator_semaphore:
            return std::make_unique<permit_turns<curator_semaphore>>(tools, seed, permits_at_first);
        case recipe::double_barrier:
            return std::make_unique<round_turns>(tools, seed, round_size);
        default:
            if (auto terms = make_terms(tools, seed)) {
                return terms;
            }
            return std::make_unique<exclusive_turns>(tools, seed);
    }
}

}  // namespace latchkey::test
