#pragma once

#include <latchkey/lock_mode.hpp>

#include "guarded_effect.hpp"
#include "transaction_log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What happened to a few locks, as everybody saw it: the programs that took turns, the register
/// that they wrote to, the servers' transaction log, and who broke what. All times are
/// CLOCK_BOOTTIME, which every process of a machine shares.
namespace latchkey::history {

using nanoseconds = std::chrono::nanoseconds;

/// What a holder saw of its own hold: the clock was read first, the hold asked afterwards.
struct observation {
    nanoseconds at{};
    bool valid = false;
    nanoseconds valid_until{};
};

/// A write that was sent to the register.
struct effect {
    nanoseconds at{};
    bool applied = false;  ///< as the register answered; it may have been applied without an answer
};

/// What an acquire is to bring.
struct wish {
    std::vector<std::string> locks;  ///< their paths: all at once
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 1;
    /// The attempt whose hold is to have another mode; it has ended with that.
    std::optional<std::int64_t> converts = {};
    /// Of a barrier: to wait for its end or only to look, to set or to remove it.
    enum class deed : std::uint8_t { wait, look, set, remove };
    deed what = deed::wait;
    bool silent = false;  ///< its place is told with the grant, not before
    /// Of an object whose callers hold after each other in one place, which may stay when none
    /// does. The numbers of tokens have a turn then: fencing_token::value().
    bool shares_place = false;
};

/// How a call of a barrier ended, as far as that was seen.
struct answer {
    enum class failure : std::uint8_t { none, canceled, participant_lost, session_lost, other };

    failure failed = failure::none;
    std::int64_t session = 0;         ///< its client's newest, if that goes on
    std::optional<bool> inside = {};  ///< what the object said then
};

/// From the call of acquire() to the end of what came of it. An attempt for several locks has a
/// turn for each of them.
struct turn {
    int worker = 0;  ///< a process
    std::int64_t attempt = 0;
    std::string lock;
    wish asked;
    nanoseconds invoked{};

    /// As told when the place was reserved, and by the hold: more than one after a loss of the
    /// session, none if it was never told.
    std::vector<std::string> znodes;
    /// A candidate's that are no places, as far as they are known: mailboxes, late creates.
    std::vector<std::string> others;

    std::optional<nanoseconds> granted;  ///< after acquire() had returned it
    std::int64_t token = 0;
    std::int64_t session = 0;
    std::vector<observation> observations;
    std::vector<effect> effects;
    std::vector<guarded_effect> guarded;

    std::optional<nanoseconds> ended;  ///< released, given up or failed; none if the process died

    std::optional<nanoseconds> leaving;  ///< since when it waits for the others of its round
    bool all_left = false;               ///< what it was told when it had left
    std::optional<answer> entered;       ///< how the call ended that began it
    std::optional<answer> left;          ///< how leave() ended

    std::string failure;  ///< an error of acquire(), if there was one
};

/// What an observer of an election was told, one after the other.
struct observer {
    struct sighting {
        nanoseconds at{};
        std::string znode;  ///< the leader's; empty: nobody leads
        std::int64_t token = 0;
    };

    int worker = 0;
    std::int64_t number = 0;  ///< of the process's
    std::string lock;         ///< the election's path
    nanoseconds begun{};
    std::optional<nanoseconds> ended;  ///< none if the process died
    std::vector<sighting> told;
};

/// A request that the register got, in the order in which it worked on them.
struct access {
    nanoseconds at{};
    std::string lock;
    int worker = 0;
    std::int64_t token = 0;
    std::optional<std::int64_t> written;  ///< none: a claim, which brings the token and reads
    bool accepted = false;
};

/// Something was broken, on purpose.
struct disturbance {
    std::string kind;
    nanoseconds begin{};
    nanoseconds end{};
    std::optional<int> worker;  ///< whom it concerns; none: everybody
    bool killed = false;        ///< the worker, which is gone for good; or a server
};

/// How the locks' participants lie on the servers, and who may hold beside whom.
enum class layout : std::uint8_t {
    one_at_a_time,      ///< in the lock's directory
    readers_writer,     ///< likewise; the names tell who reads
    semaphore,          ///< `queue/` and `permits/`; the limit is the lock's data
    curator_semaphore,  ///< `locks/` and `leases/`; the limit is nowhere
    barrier,            ///< the path itself stands, or is gone
    rounds,             ///< a double barrier: those who are there, and `ready`
    election,           ///< in the path's directory; mailboxes in `<path>-peers`, effects on
               ///< `<path>-effects`. A worker has one candidate at a time on a path: one turn after
               ///< the other
};

struct history {
    layout laid_out = layout::one_at_a_time;
    std::uint32_t limit = 0;  ///< of a curator_semaphore; how many make a round
    std::vector<transaction> transactions;
    nanoseconds wall_offset{};  ///< add it to a transaction's time
    std::vector<turn> turns;
    std::vector<observer> observers;
    std::vector<access> accesses;  ///< of all locks
    std::vector<disturbance> disturbances;
    std::map<std::int64_t, int> sessions;  ///< the workers' sessions
    nanoseconds end{};                     ///< when everything had become quiet
};

/// What is expected of it.
struct bounds {
    std::chrono::milliseconds session_timeout{};
    std::chrono::milliseconds tick{};
    /// How long after the end of a disturbance its consequences may last.
    std::chrono::milliseconds settling{};
    /// How long a turn that nothing disturbs may wait with nobody in its way, and a znode that
    /// nobody needs any more may stay.
    std::chrono::milliseconds patience{};
    /// How far a transaction's time, in whole milliseconds, may be off.
    std::chrono::milliseconds precision{2};
    bool direct = false;  ///< who releases may tell the next one, ahead of the servers
};

/// Durations of one kind, as figures.
struct sample {
    std::vector<nanoseconds> values;

    [[nodiscard]] std::size_t count() const { return values.size(); }

    /// Of at least one value: `share` 0.5 is the median, 1 the greatest.
    [[nodiscard]] nanoseconds quantile(double share) const;
};

struct violation {
    enum class rule : std::uint8_t {
        token,        ///< a token is not the czxid of a znode that the session created
        order,        ///< granted while somebody was ahead
        overlap,      ///< two believed at once; or one when its znode was already gone
        fence,        ///< the register took a token lower than one before
        lost_update,  ///< an accepted write vanished
        orphan,       ///< a znode that nobody needs stayed
        lost_wakeup,  ///< nobody was told that it is first
        failure,      ///< acquire() failed
        limit,        ///< more permits than there are
        torn,         ///< something that is to be done at once was done in parts
        passed,       ///< a caller passed a barrier that stood
        changed,      ///< a change of a barrier was told that was not made
        round,        ///< a round began or ended without its participants, or one entered no round
        farewell,     ///< who left a round was told what is not so
        told,         ///< a caller of a barrier was told what is not so of itself
        guard,        ///< what was done under a guard came behind a later term, or twice, or is not
                      ///< as it was told
        untold,       ///< a term that was over was not told to be
        observed,     ///< an observer was told what is not so, or was not told what is
    };

    rule which;
    std::string text;
    nanoseconds at{};  ///< when it was broken, where the rule tells that
};

[[nodiscard]] const char* to_string(violation::rule r) noexcept;

struct verdict {
    std::vector<violation> violations;
    std::size_t turns = 0;
    std::size_t grants = 0;
    std::size_t effects = 0;     ///< accepted writes
    std::size_t fenced_off = 0;  ///< accesses with a token lower than one before, all refused
    std::size_t overlaps =
        0;  ///< holds that still worked when a later one was granted, lost by then
    std::size_t lost_holds = 0;  ///< holds that ended otherwise than by a release
    std::size_t guarded = 0;     ///< effects that the servers committed, each under its guard
    std::size_t refused = 0;     ///< those that the guard kept from being made
    std::size_t observed = 0;    ///< leaders and vacancies that observers were told of
    std::size_t transfers = 0;   ///< candidates that were let in right behind the leader
    std::map<std::string, std::size_t> struck;  ///< what befell those who led, and how often
    nanoseconds calm{};  ///< how much of the time no server was broken, or had yet to recover
    sample hand_over;    ///< undisturbed: from the predecessor's end to the grant
    sample takeover;     ///< from the kill of a holder to the next grant
    sample takeover_undisturbed;  ///< those to the next in line, it and the servers being well
    sample recovery;              ///< from the kill of a server to the next grant of any lock

    [[nodiscard]] std::size_t count(violation::rule r) const;
};

[[nodiscard]] verdict check(const history& h, const bounds& b);

}  // namespace latchkey::history
