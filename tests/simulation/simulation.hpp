#pragma once

#include "fault.hpp"

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::simulation {

/// What the draws concentrate on: some broken rules show in one corner of all that can happen, and
/// elsewhere once in thousands of runs.
enum class corner : std::uint8_t {
    everywhere,
    cut_off,     ///< sessions of few ticks, idle clients, followers cut off together with a client
    woken_up,    ///< the same for who was stopped
    taken_away,  ///< an operator deletes what is held and waited for, and little else happens
    crowded,     ///< many callers share few objects, and holds are lost
    unresolved,  ///< requests come late, from connections that are gone
    timed,       ///< everywhere, and objects have the times of lock_options
    turns,       ///< mutexes whose callers take turns in one place, or that are retained
    deep,        ///< queues are long, as mutexes see it
    alone,       ///< two clients, and often only one of them wants the lock
    direct,      ///< any of these, with direct messages over a network that is as bad as can be
};

/// "cut-off".
[[nodiscard]] const char* to_string(corner c) noexcept;

/// None if there is none of this name.
[[nodiscard]] std::optional<corner> corner_of(std::string_view name) noexcept;

/// What the programs of a run use.
enum class recipe_kind : std::uint8_t {
    mutex,
    shared_mutex,
    semaphore,
    curator_semaphore,
    multi_mutex,      ///< beside mutexes
    leader_latch,     ///< beside candidates that know nothing of its record, and observers
    leader_selector,  ///< likewise, and beside mutexes
    barrier,
    double_barrier,
    group,
};

/// "shared_mutex".
[[nodiscard]] const char* to_string(recipe_kind k) noexcept;

/// None if there is none of this name.
[[nodiscard]] std::optional<recipe_kind> recipe_kind_of(std::string_view name) noexcept;

/// What one run is made from. The same values give the same run, event by event.
struct options {
    std::uint64_t seed = 1;
    recipe_kind recipe = recipe_kind::mutex;
    /// How much each fault weighs against the others, none: never. Drawn from the seed unless set.
    std::optional<by_fault<double>> faults = {};
    corner where = corner::everywhere;
    /// Where to tell what happens, a line each.
    std::ostream* tale = nullptr;
};

/// A promise that was broken: I1 to I11 of judge.hpp, I12 of leader_judge.hpp.
struct violation {
    std::string invariant;        ///< "I3"
    std::string text;             ///< for a reader
    std::chrono::nanoseconds at;  ///< virtual time since the run began
};

/// What happened, countable: sums over runs are made with `+=`.
struct figures {
    std::uint64_t runs = 0;
    std::chrono::nanoseconds virtual_time{};
    std::uint64_t events = 0;
    std::uint64_t requests = 0;
    std::uint64_t calls = 0;         ///< of acquire, in all its forms
    std::uint64_t grants = 0;        ///< valid when they were told
    std::uint64_t conversions = 0;   ///< of holds, to another mode; of leaderships: handed over
    std::uint64_t unconverted = 0;   ///< told no, cancelled, lost meanwhile; offers taken back
    std::uint64_t late_grants = 0;   ///< told too late: not valid any more
    std::uint64_t losses = 0;        ///< holds that were lost before they were released
    std::uint64_t overlaps = 0;      ///< two believed at once: the first one's znode was taken
    std::uint64_t releases = 0;      ///< participants that left with another one behind them
    std::uint64_t wake_ups = 0;      ///< by those
    std::uint64_t effects = 0;       ///< on an outside resource, accepted
    std::uint64_t fenced_off = 0;    ///< refused by it
    std::uint64_t transactions = 0;  ///< guarded ones that were committed
    std::uint64_t refused_transactions = 0;
    std::uint64_t rounds = 0;     ///< of double barriers
    std::uint64_t lists = 0;      ///< of members, told to those who watch a group
    std::uint64_t timely = 0;     ///< looks at members, and at who watches, that nothing hindered
    std::uint64_t budgets = 0;    ///< acquires that no fault met: their requests were counted
    std::uint64_t timed_out = 0;  ///< holds whose longest time passed
    std::uint64_t stayed = 0;     ///< holds that were released before their shortest time
    std::uint64_t turns = 0;      ///< grants in a place that was held before
    std::uint64_t passes = 0;     ///< the same while another participant was known to wait
    std::uint64_t delayed = 0;    ///< grants behind a holder that died, and had a delay
    std::uint64_t fronts = 0;     ///< holders that the data of a directory was made to name
    std::uint64_t unlisted = 0;   ///< grants of clients that sent no list since the one before
    std::uint64_t direct = 0;     ///< grants by a message of the holder before
    std::uint64_t guarded = 0;    ///< sessions of crashed clients that a guardian has ended
    by_fault<std::uint64_t> faults{};

    figures& operator+=(const figures& other) noexcept;
};

std::ostream& operator<<(std::ostream& out, const figures& f);

/// What came of a run. It ends at the first violation.
struct verdict {
    std::vector<violation> violations;  ///< the first is the cause; empty: all promises were kept
    std::uint64_t trace = 0;            ///< a hash of the whole run: same seed, same hash
    figures counts;
};

/// Clients run the recipes on a virtual clock, against servers of the in-process ensemble, while
/// everything that can go wrong does; a judge who sees the servers' log checks every promise after
/// every event. Nothing is thrown for a violation.
[[nodiscard]] verdict simulate(const options& how);

}  // namespace latchkey::simulation
