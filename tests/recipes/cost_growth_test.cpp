// The formulas of docs/scale.md, each at several sizes, counted by the servers.
#include "cost_growth.hpp"

#include <latchkey/barrier.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/multi_mutex.hpp>

#include "stepped_outcome.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test::growth {
namespace {

// ---- the formulas: counts are exact, bytes within a tenth and 300; what is not said is zero ----

const std::vector<std::size_t> few{1, 10, 100};
const std::vector<std::size_t> many{2, 16, 128, 1000};
const std::vector<std::size_t> several{2, 10, 100};
const std::vector<std::size_t> of_a_long_queue{64, 256, 1000};

const formula formulas[] = {
    {"a_free_mutex_beside_n_other_locks",
     {1, 10, 100, 1000},
     [](CostGrowth& w, std::size_t n) { w.acquire_beside(n); },
     [](std::size_t) {
         return counters{.creates = 1,
                         .children = 1,
                         .bytes_in = create_in() + read_in,
                         .bytes_out = create_out + list_out(1)};
     }},
    {"a_free_shared_mutex_beside_n_readers",
     many,
     [](CostGrowth& w, std::size_t n) { w.acquire_beside_readers(n); },
     [](std::size_t n) {
         return counters{.creates = 1,
                         .children = 1,
                         .bytes_in = create_in() + read_in,
                         .bytes_out = create_out + list_out(n + 1)};
     }},
    {"a_permit_beside_n_that_are_taken",
     {1, 10, 100, 1000},
     [](CostGrowth& w, std::size_t n) { w.take_beside(n); },
     [](std::size_t n) {
         return counters{.creates = 1,
                         .gets = 1,
                         .children = 2,
                         .multis = 1,
                         .bytes_in = 0,
                         .bytes_out = n * (4 + 48) + 700};
     }},
    {"a_free_multi_mutex_of_n_paths",
     several,
     [](CostGrowth& w, std::size_t n) {
         multi_mutex m(w.add_client(), CostGrowth::paths(n));
         w.acquire_again(m);
     },
     [](std::size_t n) {
         return counters{.gets = 1,
                         .children = n,
                         .multis = 1,
                         .bytes_in = n * (create_in() + read_in),
                         .bytes_out = n * (4 + path + 9 + list_out(1)) + get_out()};
     }},
    {"behind_n_others",
     many,
     [](CostGrowth& w, std::size_t n) {
         w.queue_of(n - 1);
         w.queue(0, w.client_of(n));
         w.ensemble_.run_for(4ms);
     },
     [](std::size_t n) {
         return counters{.creates = 1 + 1,
                         .gets = 2,
                         .children = 1,
                         .watches_set = 2,
                         .bytes_in = directory_in + create_in() + read_in + 2 * get_in,
                         .bytes_out = directory_out + create_out + list_out(n + 1) + 2 * get_out()};
     }},
    {"a_try_behind_n_others",
     many,
     [](CostGrowth& w, std::size_t n) {
         w.queue_of(n - 1);
         mutex m(w.client_of(n), "/lock");
         const auto a = w.acquire(m, 0s);
         w.ensemble_.run_for(4ms);
         EXPECT_TRUE(a->done && !a->granted);
     },
     [](std::size_t n) {
         return counters{.children = 1, .bytes_in = read_in, .bytes_out = list_out(n)};
     }},
    {"n_join_one_after_the_other",
     many,
     [](CostGrowth& w, std::size_t n) { w.join_in_turn(n); },
     [](std::size_t n) {
         return counters{
             .creates = 2 * n,
             .gets = 2 * n,
             .children = n,
             .watches_set = 2 * n,
             .bytes_in = n * (directory_in + create_in() + read_in + 2 * get_in),
             .bytes_out = n * (directory_out + create_out + 2 * get_out() + list_out(0)) +
                          59 * n * (n + 3) / 2};
     }},
    {"n_of_one_client_join_together",
     {16, 128, 1000},
     [](CostGrowth& w, std::size_t n) { w.join_together(n); },
     [](std::size_t n) {
         const std::size_t lists = n > 512 ? 3 : 2;  // as many reads travel at once
         return counters{.creates = 2 * n,
                         .gets = 2 * n,
                         .children = lists,
                         .watches_set = 2 * n,
                         .bytes_in = n * (directory_in + create_in() + 2 * get_in),
                         .bytes_out = n * (directory_out + create_out + 2 * get_out() + 59)};
     }},
    {"a_release_before_n_waiters",
     many,
     [](CostGrowth& w, std::size_t n) {
         w.queue_of(n);
         w.ensemble_.reset_counters();
         w.hand_over(0);
     },
     [](std::size_t) {
         return counters{.removes = 1,
                         .watch_events = 2,
                         .bytes_in = delete_in,
                         .bytes_out = delete_out + 2 * event_out};
     }},
    {"a_later_hand_off_of_n_waiters",
     of_a_long_queue,
     [](CostGrowth& w, std::size_t n) {
         w.queue_of(n);
         for (std::size_t i = 0; i < 40; ++i) {
             w.hand_over(i);
         }
         w.ensemble_.reset_counters();
         w.hand_over(40);
     },
     [](std::size_t) {
         return counters{.removes = 1,
                         .gets = 1,
                         .multis = 1,
                         .watch_events = 2,
                         .bytes_in = delete_in + read_in + 2 * path + 150,
                         .bytes_out = delete_out + 2 * event_out + get_out() + 100};
     }},
    {"a_release_before_n_readers",
     many,
     [](CostGrowth& w, std::size_t n) { w.release_before_readers(n); },
     [](std::size_t n) {
         // Five clients; each is told once of the writer that all of its readers wait for.
         const std::size_t events = 1 + std::min<std::size_t>(n, 5);
         return counters{.removes = 1,
                         .watch_events = events,
                         .bytes_in = delete_in,
                         .bytes_out = delete_out + events * event_out};
     }},
    {"a_multi_mutex_behind_another_of_n_paths",
     several,
     [](CostGrowth& w, std::size_t n) {
         multi_mutex first(w.add_client(), CostGrowth::paths(n));
         multi_mutex second(w.add_client(), CostGrowth::paths(n));
         w.held(second).release();
         const hold h = w.held(first);
         w.settle();
         const auto waiter = w.acquire(second);
         w.ensemble_.run_for(100ms);
         EXPECT_FALSE(waiter->done);
     },
     [](std::size_t n) {
         return counters{.gets = 1 + 2 * n,
                         .children = n,
                         .multis = 1,
                         .watches_set = 2 * n,
                         .bytes_in = n * (create_in() + read_in + 2 * get_in),
                         .bytes_out = n * (4 + path + 9 + list_out(2) + 2 * get_out())};
     }},
    {"a_release_of_a_multi_mutex_of_n_paths",
     several,
     [](CostGrowth& w, std::size_t n) {
         multi_mutex first(w.add_client(), CostGrowth::paths(n));
         multi_mutex second(w.add_client(), CostGrowth::paths(n));
         hold h = w.held(first);
         const auto waiter = w.acquire(second);
         w.settle();
         h.release();
         w.ensemble_.run_for(100ms);
         EXPECT_TRUE(waiter->done);
     },
     [](std::size_t n) {
         return counters{.multis = 1,
                         .watch_events = 2 * n,
                         .bytes_in = n * (path + 17),
                         .bytes_out = n * (2 * event_out + 9)};
     }},
    {"a_reconnect_of_n_waiters",
     many,
     [](CostGrowth& w, std::size_t n) {
         w.queue(0, w.add_client());
         w.queue_behind(n);
         w.ensemble_.cut(w.clients_.back().session_id());
         w.ensemble_.run_for(500ms);
     },
     [](std::size_t n) {
         return counters{.gets = 2 * n,
                         .checks = 1,
                         .watches_set = 2 * n,
                         .bytes_in = n * 2 * get_in,
                         .bytes_out = n * 2 * get_out()};
     }},
    {"a_reconnect_of_n_holders",
     few,
     [](CostGrowth& w, std::size_t n) {
         w.holders(n);
         for (const client& c : w.clients_) {
             w.ensemble_.cut(c.session_id());
         }
         w.ensemble_.run_for(100ms);
     },
     [](std::size_t n) {
         return counters{.gets = n,
                         .checks = n,
                         .watches_set = n,
                         .bytes_in = n * (get_in + 39),
                         .bytes_out = n * (get_out() + 38)};
     }},
    {"seven_timeouts_of_one_client_that_holds_n_locks",
     few,
     [](CostGrowth& w, std::size_t n) {
         for (std::size_t i = 0; i < n; ++i) {
             w.queue(0, w.client_of(0, 1), "/lock" + std::to_string(i));
         }
         w.settle();
         w.ensemble_.run_for(7 * session_timeout);
     },
     [](std::size_t) { return counters{.checks = 49, .bytes_in = 49 * 99, .bytes_out = 49 * 38}; }},
    {"seven_timeouts_of_n_clients_that_hold_a_lock_each",
     few,
     [](CostGrowth& w, std::size_t n) {
         w.holders(n);
         w.ensemble_.run_for(7 * session_timeout);
     },
     [](std::size_t n) {
         return counters{.checks = 49 * n, .bytes_in = 49 * 99 * n, .bytes_out = 49 * 38 * n};
     }},
    {"seven_timeouts_of_n_clients_behind_the_next_one",
     few,
     [](CostGrowth& w, std::size_t n) {
         w.queue_of(n + 1, n + 2);
         w.ensemble_.run_for(7 * session_timeout);
     },
     [](std::size_t n) {
         return counters{.exists = 22 * n,
                         .checks = 2 * 49,
                         .bytes_in = 2 * 49 * 99 + 22 * n * 18,
                         .bytes_out = 2 * 49 * 38 + 22 * n * 88};
     }},
    {"the_end_of_a_session_with_n_locks",
     few,
     [](CostGrowth& w, std::size_t n) {
         client& first = w.client_of(0, 2);
         for (std::size_t i = 0; i < n; ++i) {
             w.queue(0, first, "/l" + std::to_string(1000 + i));
             w.queue(0, w.clients_[1], "/l" + std::to_string(1000 + i));
         }
         w.ensemble_.suspend(w.clients_[0].session_id());
         w.settle();
         w.ensemble_.expire(w.clients_[0].session_id());
         w.ensemble_.run_for(10ms);
     },
     [](std::size_t n) { return counters{.watch_events = n}; }},
    {"n_turns_of_a_kept_lock",
     many,
     [](CostGrowth& w, std::size_t n) {
         mutex m(w.add_client(), "/lock", {.retain_for = 30s});
         w.held(m).release();
         w.settle();
         for (std::size_t i = 0; i < n; ++i) {
             w.held(m).release();
         }
         w.ensemble_.run_for(100ms);
     },
     [](std::size_t) { return counters{}; }},
    {"a_change_of_leader_of_n_candidates",
     {2, 10, 100},
     [](CostGrowth& w, std::size_t n) {
         std::vector<std::unique_ptr<leader_latch>> all;
         w.candidates(n, all);
         all[0]->close();
         w.ensemble_.run_for(100ms);
         EXPECT_TRUE(all[1]->is_leader());
     },
     [](std::size_t n) {
         return counters{.removes = 1,
                         .gets = 1,
                         .children = 1,
                         .multis = 2,
                         .watch_events = 2,
                         .bytes_out = list_out(n) + 700};
     }},
    {"a_change_of_leader_with_n_observers",
     few,
     [](CostGrowth& w, std::size_t n) {
         std::vector<std::unique_ptr<leader_latch>> both;
         w.candidates(2, both);
         std::vector<std::unique_ptr<leader_observer>> all;
         for (std::size_t i = 0; i < n; ++i) {
             all.push_back(std::make_unique<leader_observer>(w.add_client(), "/leader"));
         }
         w.settle();
         both[0]->close();
         w.ensemble_.run_for(1s);
         for (const auto& o : all) {
             EXPECT_TRUE(o->current());
         }
     },
     [](std::size_t n) {
         // The record is cleaned, the leader goes, its successor writes the record.
         return counters{.removes = 1,
                         .gets = 1 + 3 * n,
                         .children = 1 + n,
                         .multis = 2,
                         .watches_set = 3 * n,
                         .watch_events = 2 + 3 * n};
     }},
    {"a_join_of_a_group_of_n_watchers",
     few,
     [](CostGrowth& w, std::size_t n) { w.join_watched(n); },
     [](std::size_t n) {
         return counters{.creates = 1 + 1,
                         .gets = 1 + n,
                         .children = n,
                         .watches_set = 1 + 2 * n,
                         .watch_events = n,
                         .bytes_out = n * (250 + n * 16)};
     }},
    {"the_end_of_a_barrier_for_n_clients",
     few,
     [](CostGrowth& w, std::size_t n) {
         w.ensemble_.create("/barrier");
         std::vector<std::shared_ptr<outcome>> calls;
         std::vector<std::unique_ptr<barrier>> all;
         for (std::size_t i = 0; i < n; ++i) {
             all.push_back(std::make_unique<barrier>(w.add_client(), "/barrier"));
             calls.push_back(std::make_shared<outcome>());
             all.back()->async_wait(without_limit, {}, outcome::into(calls.back(), w.ensemble_));
         }
         w.settle();
         w.ensemble_.remove("/barrier");
         w.ensemble_.run_for(100ms);
         for (const auto& c : calls) {
             EXPECT_TRUE(c->done);
         }
     },
     [](std::size_t n) { return counters{.watch_events = n, .bytes_out = n * 41}; }},
};

std::vector<sized_formula> every_size() {
    std::vector<sized_formula> all;
    for (const formula& f : formulas) {
        for (const std::size_t n : f.sizes) {
            all.push_back({&f, n});
        }
    }
    return all;
}

TEST_P(CostGrowth, IsAsStated) {
    GetParam().of->action(*this, GetParam().n);
    const counters spent = ensemble_.count();
    const counters stated = GetParam().of->cost(GetParam().n);
    EXPECT_EQ(described(spent), described(stated));
    expect_about(spent.bytes_in, stated.bytes_in);
    expect_about(spent.bytes_out, stated.bytes_out);
    // How many signs of life there are depends on the moment, by one for each client.
    const std::uint64_t clients = clients_.size();
    if (stated.checks != 0) {
        EXPECT_LE(spent.checks, stated.checks + clients);
        EXPECT_GE(spent.checks + clients, stated.checks);
    }
    if (stated.exists != 0) {
        EXPECT_LE(spent.exists, stated.exists + clients);
        EXPECT_GE(spent.exists + clients, stated.exists);
    }
}

INSTANTIATE_TEST_SUITE_P(Of, CostGrowth, ::testing::ValuesIn(every_size()), [](const auto& p) {
    return std::string(p.param.of->what) + '_' + std::to_string(p.param.n);
});

}  // namespace
}  // namespace latchkey::test::growth
