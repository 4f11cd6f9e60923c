#pragma once

#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "judge_of_holds.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/thread_pool.hpp>

namespace latchkey::test {

/// One session timeout for all; short, so that losses are frequent.
constexpr std::chrono::milliseconds stress_timeout{3'000};

/// How long a worker waits for a lock at most, so that it ends soon after the time.
constexpr std::chrono::milliseconds stress_patience{500};

/// What the workers of the stress use together: the ensemble with its faults, the clients, and what
/// they have done and found. Any thread.
class stage {
public:
    stage(std::uint64_t seed, std::chrono::seconds length);
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;
    ~stage();

    /// A generator of the worker's own, and whether it goes on.
    class turns {
    public:
        turns(stage& s, const std::string& kind, std::uint64_t seed);

        /// Counts the turn before; false when the time is over, but for the first turn: a thread
        /// that a slow machine starts late has one, too.
        [[nodiscard]] bool next();

        [[nodiscard]] bool one_in(unsigned n) { return random_() % n == 0; }

        [[nodiscard]] unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

        /// Lets up to so many milliseconds pass.
        void pause(unsigned at_most);

    private:
        stage& stage_;
        std::atomic<std::uint64_t>& count_;
        std::mt19937_64 random_;
        bool begun_ = false;
    };

    /// A turn of a worker, which has turns until the time is over. It does not throw
    /// latchkey::error.
    using work = std::function<void(stage&, turns&)>;

    /// Starts a thread for it.
    void add(std::string kind, work w);

    /// Waits until the time is over and all workers have ended.
    void finish();

    [[nodiscard]] testing::ensemble& servers() noexcept { return servers_; }

    /// One of the clients: one has a pool as its executor, another one an observer.
    [[nodiscard]] const client& client_of(std::size_t i) const { return clients_.at(i % 4); }

    [[nodiscard]] client_options options() const;

    /// The judge of a path; the capacity is that of the first call.
    [[nodiscard]] judge_of_holds& judge(const std::string& path, std::uint32_t capacity = 1);

    /// A hold that one thread uses while others look at it: shown from here to the end of `shown`.
    class exhibition {
    public:
        /// `h` is used by the calling thread, and outlives it.
        exhibition(stage& s, const hold& h);
        exhibition(const exhibition&) = delete;
        exhibition& operator=(const exhibition&) = delete;
        ~exhibition();

    private:
        stage& stage_;
        const hold* const shown_;
    };

    /// Calls `look` with a hold that is shown, if there is one, which is not destroyed meanwhile.
    void look_at_a_hold(turns& t, const std::function<void(const hold&)>& look);

    /// Notes that something is wrong.
    void find(const std::string& what);

    [[nodiscard]] std::vector<std::string> findings() const;

    /// How many turns each kind of worker has had.
    [[nodiscard]] std::map<std::string, std::uint64_t> turns_had() const;

private:
    struct shown_hold {
        const hold* what;
        std::size_t looked_at;
    };

    const std::uint64_t seed_;
    const std::chrono::steady_clock::time_point end_;
    testing::ensemble servers_;
    boost::asio::thread_pool pool_{3};
    std::atomic<std::uint64_t> events_{0};
    std::vector<client> clients_;
    mutable std::mutex guard_;
    std::map<std::string, std::atomic<std::uint64_t>> turns_;  ///< guarded, as all that follows
    std::map<std::string, judge_of_holds> judges_;
    std::vector<std::string> findings_;
    std::mutex exhibits_guard_;
    std::condition_variable unwatched_;
    std::deque<shown_hold> exhibits_;
    std::vector<std::thread> threads_;
};

}  // namespace latchkey::test
