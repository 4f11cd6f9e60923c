#pragma once

#include <latchkey/barrier.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "cost_test.hpp"
#include "stepped_outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

/// The actions whose costs cost_growth_test.cpp states.
namespace latchkey::test::growth {

using testing::counters;

class CostGrowth;

/// Counts are exact, bytes are about so many; what is not said of counts is zero.
struct cost {
    counters counts;
    std::size_t bytes_in = 0;
    std::size_t bytes_out = 0;
};

/// One line of the table of docs/scale.md.
struct formula {
    const char* what;
    std::vector<std::size_t> sizes;
    void (CostGrowth::*action)(std::size_t);
    cost (*stated)(std::size_t);
};

struct sized_formula {
    const formula* of;
    std::size_t n;
};

inline void PrintTo(const sized_formula& f, std::ostream* out) {
    *out << f.of->what << ", " << f.n;
}

class CostGrowth : public CostTest, public ::testing::WithParamInterface<sized_formula> {
public:
    static constexpr auto session_timeout = 12s;

    // ---- free locks ----

    void acquire_beside_locks(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            queue(0, client_of(i), "/lock" + std::to_string(i));
        }
        mutex m(client_of(0), "/lock");
        acquire_again(m);
    }

    void acquire_beside_readers(std::size_t n) {
        shared_mutex m(client_of(0), "/lock");
        for (std::size_t i = 0; i < n; ++i) {
            waits_.push_back(acquire_as(m, lock_mode::shared));
        }
        settle();
        waits_.push_back(acquire_as(m, lock_mode::shared));
        expect_all_granted_in(8ms);
    }

    void take_beside_permits(std::size_t n) {
        semaphore s(client_of(0), "/lock", static_cast<std::uint32_t>(n + 1));
        for (std::size_t i = 0; i < n; ++i) {
            waits_.push_back(acquire_as(s, 1U));
            ensemble_.run_for(10ms);
        }
        settle();
        waits_.push_back(acquire_as(s, 1U));
        expect_all_granted_in(8ms);
    }

    void acquire_paths(std::size_t n) {
        multi_mutex m(add_client(), paths(n));
        acquire_again(m);
    }

    // ---- joining a queue ----

    void join_behind(std::size_t n) {
        queue_of(n - 1);
        queue(0, client_of(n));
        ensemble_.run_for(4ms);
    }

    void try_behind(std::size_t n) {
        queue_of(n - 1);
        mutex m(client_of(n), "/lock");
        const auto a = acquire(m, 0s);
        ensemble_.run_for(4ms);
        EXPECT_TRUE(a->done && !a->granted);
    }

    void join_in_turn(std::size_t n) {
        queue(0, client_of(0));
        settle();
        for (std::size_t i = 1; i <= n; ++i) {
            queue(0, client_of(i));
        }
    }

    /// Of one client.
    void join_together(std::size_t n) {
        queue(0, add_client());
        client& c = add_client();
        settle();
        for (std::size_t i = 0; i < n; ++i) {
            locks_.push_back(std::make_unique<mutex>(c, "/lock"));
            waits_.push_back(acquire(*locks_.back()));
        }
        ensemble_.run_for(1s);
    }

    void acquire_paths_behind_another(std::size_t n) {
        multi_mutex first(add_client(), paths(n));
        multi_mutex second(add_client(), paths(n));
        held(second).release();
        const hold h = held(first);
        settle();
        const auto waiter = acquire(second);
        ensemble_.run_for(100ms);
        EXPECT_FALSE(waiter->done);
    }

    // ---- hand-offs ----

    void release_before_waiters(std::size_t n) {
        queue_of(n);
        hand_over(0);
    }

    void hand_over_later(std::size_t n) {
        queue_of(n);
        for (std::size_t i = 0; i < 40; ++i) {
            hand_over(i);
        }
        ensemble_.reset_counters();
        hand_over(40);
    }

    void release_before_readers(std::size_t n) {
        std::vector<std::unique_ptr<shared_mutex>> objects;
        for (std::size_t i = 0; i < 5; ++i) {
            objects.push_back(std::make_unique<shared_mutex>(client_of(i), "/lock"));
        }
        shared_mutex writer(add_client(), "/lock");
        hold writing = held(writer, lock_mode::exclusive);
        for (std::size_t i = 0; i < n; ++i) {
            waits_.push_back(acquire_as(*objects[i % 5], lock_mode::shared));
        }
        ensemble_.run_for(1s);
        settle();
        writing.release();
        expect_all_granted_in(100ms);
    }

    void release_paths(std::size_t n) {
        multi_mutex first(add_client(), paths(n));
        multi_mutex second(add_client(), paths(n));
        hold h = held(first);
        waits_.push_back(acquire(second));
        settle();
        h.release();
        expect_all_granted_in(100ms);
    }

    // ---- connections and sessions ----

    void reconnect_waiters(std::size_t n) {
        queue(0, add_client());
        join_together(n);
        settle();
        ensemble_.cut(clients_.back().session_id());
        ensemble_.run_for(500ms);
    }

    void reconnect_holders(std::size_t n) {
        holders(n);
        for (const client& c : clients_) {
            ensemble_.cut(c.session_id());
        }
        ensemble_.run_for(100ms);
    }

    void keep_locks_of_one_client(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            queue(0, client_of(0, 1), "/lock" + std::to_string(i));
        }
        settle();
        ensemble_.run_for(7 * session_timeout);
    }

    void keep_locks_of_many_clients(std::size_t n) {
        holders(n);
        ensemble_.run_for(7 * session_timeout);
    }

    /// Each waits, with a session of its own.
    void keep_waiting(std::size_t n) {
        queue_of(n + 1, n + 2);
        ensemble_.run_for(7 * session_timeout);
    }

    void end_session_with_locks(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            queue(0, client_of(0, 2), paths(n)[i]);
            queue(0, client_of(1, 2), paths(n)[i]);
        }
        ensemble_.suspend(clients_[0].session_id());
        settle();
        ensemble_.expire(clients_[0].session_id());
        ensemble_.run_for(10ms);
    }

    void take_turns(std::size_t n) {
        mutex m(add_client(), "/lock", {.retain_for = 30s});
        held(m).release();
        settle();
        for (std::size_t i = 0; i < n; ++i) {
            held(m).release();
        }
        ensemble_.run_for(100ms);
    }

    // ---- leaders ----

    void change_leader(std::size_t n) {
        const auto all = candidates(n);
        all[0]->close();
        ensemble_.run_for(100ms);
        EXPECT_TRUE(all[1]->is_leader());
    }

    void change_observed_leader(std::size_t n) {
        const auto both = candidates(2);
        std::vector<std::unique_ptr<leader_observer>> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back(std::make_unique<leader_observer>(add_client(), "/leader"));
        }
        settle();
        both[0]->close();
        ensemble_.run_for(1s);
        for (const auto& o : all) {
            EXPECT_TRUE(o->current());
        }
    }

    // ---- meetings ----

    void join_watched_group(std::size_t n) {
        std::vector<std::unique_ptr<group>> groups;
        std::vector<subscription> watching;
        for (std::size_t i = 0; i < n; ++i) {
            groups.push_back(std::make_unique<group>(add_client(), "/group"));
            watching.push_back(groups.back()->on_change([](const auto&) {}));
        }
        group g(add_client(), "/group");
        std::vector<membership> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back(join(g, "member-" + std::to_string(1000 + i)));
        }
        ensemble_.run_for(5s);
        settle();
        all.push_back(join(g, "another-1000"));
        ensemble_.run_for(1s);
    }

    void remove_barrier(std::size_t n) {
        ensemble_.create("/barrier");
        std::vector<std::shared_ptr<outcome>> calls;
        std::vector<std::unique_ptr<barrier>> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back(std::make_unique<barrier>(add_client(), "/barrier"));
            calls.push_back(std::make_shared<outcome>());
            all.back()->async_wait(without_limit, {}, outcome::into(calls.back(), ensemble_));
        }
        settle();
        ensemble_.remove("/barrier");
        ensemble_.run_for(100ms);
        for (const auto& c : calls) {
            EXPECT_TRUE(c->done);
        }
    }

protected:
    client& add_client() {
        clients_.push_back(connected({.session_timeout = session_timeout}));
        return clients_.back();
    }

    /// Of five clients in turn, or of one.
    client& client_of(std::size_t i, std::size_t of = 5) {
        while (clients_.size() < of) {
            add_client();
        }
        return clients_[i % of];
    }

    static std::vector<std::string> paths(std::size_t n) {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back("/l" + std::to_string(1000 + i));
        }
        return all;
    }

    void queue(std::size_t i, client& by, const std::string& at = "/lock") {
        locks_.push_back(std::make_unique<mutex>(by, at));
        waits_.push_back(acquire(*locks_.back()));
        ensemble_.run_for(i < 64 ? 6ms : 1ms);
    }

    /// A holder, and n waiters behind it, of several clients.
    void queue_of(std::size_t n, std::size_t of = 5) {
        for (std::size_t i = 0; i <= n; ++i) {
            queue(i, client_of(i, of));
        }
        settle();
    }

    /// n clients, each of which holds a lock of its own.
    void holders(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            queue(0, add_client(), "/lock" + std::to_string(i));
        }
        settle();
    }

    template <class Lock>
    void acquire_again(Lock& m) {
        held(m).release();
        settle();
        const hold h = held(m);
        ensemble_.run_for(2ms);
    }

    void hand_over(std::size_t from) {
        waits_[from]->granted.release();
        expect_granted(waits_[from + 1]);
        ensemble_.run_for(20ms);
    }

    void expect_all_granted_in(std::chrono::nanoseconds time) {
        ensemble_.run_for(time);
        for (const auto& a : waits_) {
            EXPECT_TRUE(a->granted);
        }
    }

    std::vector<std::unique_ptr<leader_latch>> candidates(std::size_t n) {
        std::vector<std::unique_ptr<leader_latch>> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back(std::make_unique<leader_latch>(client_of(i, n), "/leader"));
            all.back()->start();
            ensemble_.run_for(20ms);
        }
        settle();
        return all;
    }

    std::vector<client> clients_;
    std::vector<std::unique_ptr<mutex>> locks_;
    std::vector<std::shared_ptr<attempt>> waits_;
};

}  // namespace latchkey::test::growth
