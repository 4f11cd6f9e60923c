// The formulas of docs/scale.md, each at several sizes, counted by the servers.
#include "cost_growth.hpp"

#include "queue/participant_record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace latchkey::test::growth {
namespace {

// ---- bytes on the wire, for participants of "/lock" or a directory with a name as long ----

constexpr std::size_t name = 55;                 ///< "_c_", a uuid, "-lock-", ten digits
constexpr std::size_t path = 6 + name;           ///< of a participant
constexpr std::size_t read_in = 12 + 4 + 5 + 1;  ///< of a directory
constexpr std::size_t get_in = 12 + 4 + path + 1;
constexpr std::size_t delete_in = 12 + 4 + path + 4;
constexpr std::size_t create_out = 20 + 4 + path + 68;
constexpr std::size_t delete_out = 20;
constexpr std::size_t directory_in = 12 + 4 + 5 + 4 + 27 + 4;  ///< the create of the lock's path
constexpr std::size_t directory_out = 20;                      ///< it exists
constexpr std::size_t event_out = 28 + 4 + path;

/// The data of a participant, which names this process.
std::size_t record() {
    static const std::size_t size = record_writer::shared()->write("exclusive").size();
    return size;
}

std::size_t create_in() {
    return 12 + 4 + path - 10 + 4 + record() + 27 + 4;
}

std::size_t get_out() {
    return 20 + 4 + record() + 68;
}

/// Of a directory with n children.
constexpr std::size_t list_out(std::size_t n) {
    return 20 + 4 + 68 + n * (4 + name);
}

// ---- the formulas ----

const std::vector<std::size_t> few{1, 10, 100};
const std::vector<std::size_t> up_to_1000{1, 10, 100, 1000};
const std::vector<std::size_t> many{2, 16, 128, 1000};
const std::vector<std::size_t> several{2, 10, 100};

const formula formulas[] = {
    {"a_free_mutex_beside_n_other_locks",
     up_to_1000,
     &CostGrowth::acquire_beside_locks,
     [](std::size_t) {
         return cost{
             {.creates = 1, .children = 1}, create_in() + read_in, create_out + list_out(1)};
     }},
    {"a_free_shared_mutex_beside_n_readers",
     many,
     &CostGrowth::acquire_beside_readers,
     [](std::size_t n) {
         return cost{
             {.creates = 1, .children = 1}, create_in() + read_in, create_out + list_out(n + 1)};
     }},
    {"a_permit_beside_n_that_are_taken",
     up_to_1000,
     &CostGrowth::take_beside_permits,
     [](std::size_t n) {
         return cost{{.creates = 1, .gets = 1, .children = 2, .multis = 1}, 0, n * (4 + 48) + 700};
     }},
    {"a_free_multi_mutex_of_n_paths",
     several,
     &CostGrowth::acquire_paths,
     [](std::size_t n) {
         return cost{{.gets = 1, .children = n, .multis = 1},
                     n * (create_in() + read_in),
                     n * (4 + path + 9 + list_out(1)) + get_out()};
     }},
    {"behind_n_others",
     many,
     &CostGrowth::join_behind,
     [](std::size_t n) {
         return cost{{.creates = 1 + 1, .gets = 2, .children = 1, .watches_set = 2},
                     directory_in + create_in() + read_in + 2 * get_in,
                     directory_out + create_out + list_out(n + 1) + 2 * get_out()};
     }},
    {"a_try_behind_n_others",
     many,
     &CostGrowth::try_behind,
     [](std::size_t n) {
         return cost{{.children = 1}, read_in, list_out(n)};
     }},
    {"n_join_one_after_the_other",
     many,
     &CostGrowth::join_in_turn,
     [](std::size_t n) {
         return cost{
             {.creates = 2 * n, .gets = 2 * n, .children = n, .watches_set = 2 * n},
             n * (directory_in + create_in() + read_in + 2 * get_in),
             n * (directory_out + create_out + 2 * get_out() + list_out(0)) + 59 * n * (n + 3) / 2};
     }},
    {"n_of_one_client_join_together",
     {16, 128, 1000},
     &CostGrowth::join_together,
     [](std::size_t n) {
         const std::size_t lists = n > 512 ? 3 : 2;  // as many reads travel at once
         return cost{{.creates = 2 * n, .gets = 2 * n, .children = lists, .watches_set = 2 * n},
                     n * (directory_in + create_in() + 2 * get_in),
                     n * (directory_out + create_out + 2 * get_out() + 59)};
     }},
    {"a_release_before_n_waiters",
     many,
     &CostGrowth::release_before_waiters,
     [](std::size_t) {
         return cost{{.removes = 1, .watch_events = 2}, delete_in, delete_out + 2 * event_out};
     }},
    {"a_later_hand_off_of_n_waiters",
     {64, 256, 1000},
     &CostGrowth::hand_over_later,
     [](std::size_t) {
         return cost{{.removes = 1, .gets = 1, .multis = 1, .watch_events = 2},
                     delete_in + read_in + 2 * path + 150,
                     delete_out + 2 * event_out + get_out() + 100};
     }},
    {"a_release_before_n_readers",
     many,
     &CostGrowth::release_before_readers,
     [](std::size_t n) {
         // Five clients; each receives one event for the writer that all of its readers wait for.
         const std::size_t events = 1 + std::min<std::size_t>(n, 5);
         return cost{
             {.removes = 1, .watch_events = events}, delete_in, delete_out + events * event_out};
     }},
    {"a_multi_mutex_behind_another_of_n_paths",
     several,
     &CostGrowth::acquire_paths_behind_another,
     [](std::size_t n) {
         return cost{{.gets = 1 + 2 * n, .children = n, .multis = 1, .watches_set = 2 * n},
                     n * (create_in() + read_in + 2 * get_in),
                     n * (4 + path + 9 + list_out(2) + 2 * get_out())};
     }},
    {"a_release_of_a_multi_mutex_of_n_paths",
     several,
     &CostGrowth::release_paths,
     [](std::size_t n) {
         return cost{
             {.multis = 1, .watch_events = 2 * n}, n * (path + 17), n * (2 * event_out + 9)};
     }},
    {"a_reconnect_of_n_waiters",
     many,
     &CostGrowth::reconnect_waiters,
     [](std::size_t n) {
         return cost{
             {.gets = 2 * n, .checks = 1, .watches_set = 2 * n}, n * 2 * get_in, n * 2 * get_out()};
     }},
    {"a_reconnect_of_n_holders",
     few,
     &CostGrowth::reconnect_holders,
     [](std::size_t n) {
         return cost{
             {.gets = n, .checks = n, .watches_set = n}, n * (get_in + 39), n * (get_out() + 38)};
     }},
    {"seven_timeouts_of_one_client_that_holds_n_locks",
     few,
     &CostGrowth::keep_locks_of_one_client,
     [](std::size_t) {
         return cost{{.checks = 49}, 49 * 99, 49 * 38};
     }},
    {"seven_timeouts_of_n_clients_that_hold_a_lock_each",
     few,
     &CostGrowth::keep_locks_of_many_clients,
     [](std::size_t n) {
         return cost{{.checks = 49 * n}, 49 * 99 * n, 49 * 38 * n};
     }},
    {"seven_timeouts_of_n_clients_behind_the_next_one",
     few,
     &CostGrowth::keep_waiting,
     [](std::size_t n) {
         return cost{{.exists = 22 * n, .checks = 2 * 49},
                     2 * 49 * 99 + 22 * n * 18,
                     2 * 49 * 38 + 22 * n * 88};
     }},
    {"the_end_of_a_session_with_n_locks",
     few,
     &CostGrowth::end_session_with_locks,
     [](std::size_t n) { return cost{{.watch_events = n}}; }},
    {"n_turns_of_a_kept_lock", many, &CostGrowth::take_turns, [](std::size_t) { return cost{}; }},
    {"a_change_of_leader_of_n_candidates",
     several,
     &CostGrowth::change_leader,
     [](std::size_t n) {
         return cost{{.removes = 1, .gets = 1, .children = 1, .multis = 2, .watch_events = 2},
                     0,
                     list_out(n) + 700};
     }},
    {"a_change_of_leader_with_n_observers",
     few,
     &CostGrowth::change_observed_leader,
     [](std::size_t n) {
         // The record is cleaned, the leader goes, its successor writes the record.
         return cost{{.removes = 1,
                      .gets = 1 + 3 * n,
                      .children = 1 + n,
                      .multis = 2,
                      .watches_set = 3 * n,
                      .watch_events = 2 + 3 * n}};
     }},
    {"a_join_of_a_group_of_n_watchers",
     few,
     &CostGrowth::join_watched_group,
     [](std::size_t n) {
         return cost{{.creates = 1 + 1,
                      .gets = 1 + n,
                      .children = n,
                      .watches_set = 1 + 2 * n,
                      .watch_events = n},
                     0,
                     n * (250 + n * 16)};
     }},
    {"the_end_of_a_barrier_for_n_clients",
     few,
     &CostGrowth::remove_barrier,
     [](std::size_t n) {
         return cost{{.watch_events = n}, 0, n * 41};
     }},
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

/// Within a tenth and 300; 0: nothing is stated.
void expect_about(std::uint64_t bytes, std::uint64_t stated) {
    if (stated != 0) {
        EXPECT_LE(bytes, stated + stated / 10 + 300);
        EXPECT_GE(bytes + stated / 10 + 300, stated);
    }
}

/// How many signs of life there are depends on the moment, by one for each client.
void expect_signs_of_life(std::uint64_t sent, std::uint64_t stated, std::uint64_t clients) {
    if (stated != 0) {
        EXPECT_LE(sent, stated + clients);
        EXPECT_GE(sent + clients, stated);
    }
}

TEST_P(CostGrowth, IsAsStated) {
    const auto& [of, n] = GetParam();
    (this->*of->action)(n);
    const counters spent = ensemble_.count();
    const cost stated = of->stated(n);
    EXPECT_EQ(described(spent), described(stated.counts));
    expect_about(spent.bytes_in, stated.bytes_in);
    expect_about(spent.bytes_out, stated.bytes_out);
    expect_signs_of_life(spent.checks, stated.counts.checks, clients_.size());
    expect_signs_of_life(spent.exists, stated.counts.exists, clients_.size());
}

INSTANTIATE_TEST_SUITE_P(Of, CostGrowth, ::testing::ValuesIn(every_size()), [](const auto& p) {
    return std::string(p.param.of->what) + '_' + std::to_string(p.param.n);
});

}  // namespace
}  // namespace latchkey::test::growth
