// Turns with mutexes, one or several at once, and with recursive ones.
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>

#include "chaos_turns.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace latchkey::test {
namespace {

class exclusive_turns final : public turns {
public:
    exclusive_turns(worker_tools& tools, std::uint64_t seed) : turns(tools, seed) {
        for (int i = 0; i < order().locks; ++i) {
            locks_.push_back(std::make_unique<mutex>(zk(), order().path(i)));
        }
    }

private:
    void take_one(const std::stop_token& stop) override {
        if (order().what == recipe::multi_mutex && below(4) != 0) {
            take_several(stop);
        } else {
            take_single(*locks_[below(locks_.size())], stop);
        }
    }

    void take_single(mutex& lock, const std::stop_token& stop) {
        take({lock.path()}, [&](std::int64_t number) { return ask_for(lock, number, stop); });
    }

    /// Some of the locks, in any order: they overlap with what others take.
    void take_several(const std::stop_token& stop) {
        std::vector<std::string> paths;
        for (int i = 0; i < order().locks; ++i) {
            paths.push_back(order().path(i));
        }
        while (paths.size() > 2 && below(2) == 0) {
            paths.erase(paths.begin() + static_cast<long>(below(paths.size())));
        }
        std::rotate(
            paths.begin(), paths.begin() + static_cast<long>(below(paths.size())), paths.end());
        multi_mutex all(zk(), paths);
        take(paths, [&](std::int64_t number) { return ask_for(all, number, stop); });
    }

    void take(const std::vector<std::string>& paths, const std::function<hold(std::int64_t)>& ask) {
        attempt({.locks = paths}, ask, [&](hold& h, std::int64_t number) {
            work(h, paths, number);
            tell_ended(number, h);
        });
    }

    std::vector<std::unique_ptr<mutex>> locks_;
};

/// With objects of all threads. They are granted in any order within the process.
class kept_turns final : public turns {
public:
    kept_turns(worker_tools& tools, std::uint64_t seed) : turns(tools, seed) {}

private:
    void take_one(const std::stop_token& stop) override {
        mutex& lock = shared_mutex_of(below(locks()));
        attempt(
            {.locks = {lock.path()}, .silent = true, .shares_place = true},
            [&](std::int64_t) { return ask_silently(lock, stop); },
            [&](hold& h, std::int64_t number) {
                work(h, {lock.path()}, number);
                tell_ended(number, h);
            });
    }
};

class recursive_turns final : public turns {
public:
    recursive_turns(worker_tools& tools, std::uint64_t seed) : turns(tools, seed) {
        for (int i = 0; i < order().locks; ++i) {
            locks_.push_back(std::make_unique<recursive_mutex>(zk(), order().path(i)));
        }
    }

private:
    void take_one(const std::stop_token& /*stop*/) override {
        recursive_mutex& lock = *locks_[below(locks_.size())];
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
            if (e.code() != errc::hold_lost) {
                throw;
            }
            return false;
        }
    }

    std::vector<std::unique_ptr<recursive_mutex>> locks_;
};

}  // namespace

std::unique_ptr<turns> make_exclusive_turns(worker_tools& tools, std::uint64_t seed) {
    return std::make_unique<exclusive_turns>(tools, seed);
}

std::unique_ptr<turns> make_kept_turns(worker_tools& tools, std::uint64_t seed) {
    return std::make_unique<kept_turns>(tools, seed);
}

std::vector<std::unique_ptr<mutex>> shared_mutexes(const chaos_order& o, client& zk) {
    using namespace std::chrono_literals;
    std::vector<std::unique_ptr<mutex>> all;
    for (int lock = 0; o.what == recipe::kept_mutex && lock < o.locks; ++lock) {
        const auto options = lock % 3 == 0 ? lock_options{.local_passes = 3, .retain_for = 1h}
                             : lock % 3 == 1
                                 ? lock_options{.retain_for = 1h}
                                 : lock_options{.local_passes = UINT32_MAX, .local_time = 300ms};
        all.push_back(std::make_unique<mutex>(zk, o.path(lock), options));
    }
    return all;
}

std::unique_ptr<turns> make_recursive_turns(worker_tools& tools, std::uint64_t seed) {
    return std::make_unique<recursive_turns>(tools, seed);
}

}  // namespace latchkey::test
