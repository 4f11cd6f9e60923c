#pragma once

#include <latchkey/hold.hpp>
#include <latchkey/lock_options.hpp>

#include "chronicle.hpp"
#include "ensemble/connection.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "ensemble/virtual/virtual_process.hpp"
#include "hold/hold_state.hpp"
#include "recipe.hpp"
#include "stage.hpp"
#include "truth.hpp"
#include "turn_judge.hpp"
#include "uncopied.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::simulation {

/// What the judge knows of one client program.
struct client_record {
    int number = 0;
    std::size_t objects = 0;
    std::size_t places = 0;  ///< that it takes in queues at once, at most
    std::string chroot;
    std::int64_t session = 0;  ///< the newest that it opened
    std::set<std::int64_t> sessions;
    std::int64_t guarded = 0;  ///< the session that its guardian ends if it crashes
    duration timeout{};        ///< as asked for
    duration granted{};        ///< by the servers
    duration patience{};       ///< how long a call without a limit waits for servers, at least
    std::uint64_t pauses = 0;
    std::uint64_t connections = 0;
    std::uint64_t calls = 0;
    std::uint64_t holds = 0;  ///< now
    duration busy_until{};    ///< when it last did something
    duration connected_at{};  ///< last
    duration running_since{};
    std::optional<duration> refused_at;  ///< when a server last answered with an error
    bool paused = false;
    bool crashed = false;
    bool closed = false;     ///< close() was called
    bool ended = false;      ///< `closed` was told
    bool suspended = false;  ///< as it was told last
    bool lost = false;       ///< the same of its session
    std::uint64_t abandoned =
        0;  ///< places given up or lost in this session: their watches may stay
    std::uint64_t wake_ups = 0;      ///< what it was told to be gone
    testing::counters asked;         ///< in this session
    std::uint64_t lists_before = 0;  ///< of those, when it was granted last
    std::shared_ptr<const virtual_process> clock;

    /// How long `d` of this client's clock is in true time; not longer than it may be.
    [[nodiscard]] duration lasting(duration d) const noexcept {
        return clock->lasting(d) - duration(clock->lasting(d) == d ? 0 : 2);
    }
};

/// One call of acquire.
struct call {
    std::shared_ptr<client_record> by;
    std::string who;
    std::string directory;
    std::vector<std::string> directories;  ///< all that its object is about
    std::size_t places = 1;                ///< that it takes in queues
    int object = 0;                        ///< which of its client's
    wish what;
    std::optional<std::uint32_t> stated;  ///< what its object was told to be the limit of permits
    lock_options times;                   ///< what its object was told of those
    std::optional<duration> limit;        ///< none: for ever
    duration begun{};
    std::optional<duration> stopped;  ///< when cancellation was asked for
    int told = 0;
    std::uint64_t pauses_before = 0;
    // To count its requests by, if nothing disturbs it.
    bool undisturbed = false;
    std::uint64_t connections_before = 0;
    std::uint64_t calls_before = 0;
    std::uint64_t wake_ups_before = 0;
    testing::counters asked_before;

    /// Does not want to wait.
    [[nodiscard]] bool tries() const noexcept { return limit && *limit <= duration{}; }

    /// When its limit is over, if it has one.
    [[nodiscard]] duration ends() const noexcept { return begun + by->lasting(*limit); }
};

/// A hold in a program's hands.
struct held {
    std::shared_ptr<client_record> by;
    const hold* what = nullptr;  ///< empty while it is being changed; null: a term of leadership
    std::weak_ptr<hold_state> state;
    wish as;  ///< of two modes, while it is being changed, the one that entitles to less
    std::string who;
    std::string directory;
    int object = 0;  ///< which of its client's
    fencing_token token;
    std::shared_ptr<participant> place;
    participants others;  ///< places besides, of a hold of several
    bool overlapped = false;
    duration taken_at{};
    int troubles_before = 0;
    std::uint64_t disturbances_before = 0;
    std::optional<duration> lost_at;  ///< when it was first not believed any more
    lock_options times;
    bool told_at_once = false;  ///< its process was not stopped since before the grant
    /// By max_hold, by its own clock; that of the grant is no later.
    boottime_clock::time_point ends = boottime_clock::time_point::max();
    // While it is being changed.
    std::optional<lock_mode> from;
    lock_mode to = lock_mode::exclusive;
    standing newest_before;  ///< of all that had joined then
    bool gave_way = false;   ///< to those who share, or may have: that is not taken back
    std::optional<duration> change_due;
    std::uint64_t pauses_before = 0;
};

/// One guarded transaction.
struct deal {
    std::shared_ptr<client_record> by;
    std::string who;
    std::string directory;
    fencing_token token;
    participants places;
    bool ordered = true;  ///< none of an earlier holder may follow
    bool once = false;    ///< transact_once(): its outcome is found out
    duration begun{};
    bool committed = false;
    int told = 0;
    bool refused = false;  ///< told that nothing was applied
};

/// Checks the promises, with the servers' log before it. On the loop only.
///
/// These are a mutex's; where another recipe promises something else, its judge says so. What a
/// history can tell of barriers, double barriers and semaphores, the rules of tests/history judge.
/// A history holds no clocks of clients, watches, requests or hindrances: what depends on them is
/// judged here, and so are the recipes whose other promises are few lines beside that.
///
///   I1   One holds: never two whose znodes are there; a place is kept until its hold is released,
///        also a lost one, and callers of one object never hold at once.
///   I2   Nobody believes in a hold after the servers have ended its session, nor long after an
///        operator has deleted its znode: that is heard at once, if nothing keeps the client from
///        hearing. Lost is final. What is granted can be believed.
///   I3   Tokens are the czxids of the znodes and increase; what a later holder has done is never
///        followed by what an earlier one does, in transactions or where tokens are compared.
///   I4   The first in the queue is granted, and nobody who never was the first; nobody beside or
///        behind a child whose place cannot be told; callers of one object in the order of calls.
///        Only the first is named by the directory.
///   I5   Nothing is left behind, and nobody deletes or overwrites what belongs to others.
///   I6   A waiter watches one znode of others, and no directory.
///   I7   A release wakes one waiter.
///   I8   Without faults everybody who waits is granted; limits and cancellations are kept.
///   I9   Each caller is told once, what is so; a loss is told by the stop token, when it happens.
///   I10  A client that was closed does nothing more.
///   I11  An acquire that nothing disturbs takes the requests that were promised.
///   I13  By the holder's clock: nobody believes for longer than max_hold after the grant, and the
///        place goes then; a place whose hold is released before min_hold stays until then, while
///        the session does. (I12 is another judge's.)
///   I14  After a holder with a lock_delay whose session or znode was taken from it, nobody behind
///        it is granted before that time has passed, by any clock. (I15 is turn_judge's.)
///   I16  Who is granted reads what the holders before it have written.
class judge : public test::uncopied {
public:
    /// With a layout, what happens is written down, and judged by the rules of tests/history.
    explicit judge(stage& s, std::optional<history::layout> l = {});

    [[nodiscard]] truth& log() noexcept { return truth_; }

    // What the ensemble shows.
    void opened(const std::shared_ptr<client_record>& by, std::int64_t session);
    virtual void received(const model::connection& c, const model::packet& p);
    virtual void answering(const model::connection& c, const request& r, result_code code);
    void committed(const model::transaction& t);
    void sent(std::string_view datagram);

    /// A participant tells the next one that it holds no more, with this text.
    virtual void told_next(const participant&, const std::string&) {}

    void notified(const model::connection& c, const std::string& path, bool replayed);

    // What the programs do and are told.
    void begins(const std::shared_ptr<call>& c);
    void told(call& c, std::error_code ec, const hold& h);
    void takes(held& h);
    void takes(held& h, const std::shared_ptr<hold_state>& state);
    void releases(held& h);
    void acts(const held& h);
    std::uint64_t deals(deal d);
    void reads(const std::string& who, std::int64_t found, std::int64_t least);

    /// The zxid of the newest guarded transaction in its directory, if that is not of a later
    /// holder; else 0.
    [[nodiscard]] std::int64_t written_before(const held& h) const {
        const auto known = written_.find(h.directory);
        return known == written_.end() || h.token < known->second.first ? 0 : known->second.second;
    }

    void told(std::uint64_t deal_number, std::error_code ec, bool applied = true);
    void state(client_record& by, connection_state s);

    /// Whether the effects of earlier holders may not follow those of this one.
    [[nodiscard]] virtual bool orders(const held&) const { return true; }

    /// A hold is given away, to come back in another mode.
    virtual void changes(held&, lock_mode, const std::optional<duration>&) {}

    virtual void changed(held&, std::error_code) {}

    /// After every event.
    void check();

    /// Nobody holds or waits.
    [[nodiscard]] virtual bool idle() const;

    /// No participant is left.
    [[nodiscard]] virtual bool empty() const;

    /// The run is over: what it wrote down is judged by the rules of tests/history.
    void judge_history();

    /// All programs are gone.
    virtual void check_end();

    /// The znodes of a hold; null for one that no session created.
    [[nodiscard]] participants places_of(const client_record& by,
                                         const std::vector<std::string>& paths) const;

    /// Who is where, for the reader of a violation.
    [[nodiscard]] virtual std::string picture() const;

protected:
    // What another recipe promises otherwise.

    /// Whether who asks for this has to wait for one that is ahead of it.
    [[nodiscard]] virtual bool blocks(const participant&, const wish&) const { return true; }

    /// Whether two may believe at once, in one directory.
    [[nodiscard]] virtual bool may_be_beside(const held&, const held&) const { return false; }

    /// A transaction was committed, and these participants came or went with it.
    virtual void applied(const model::transaction&, const participants&) {}

    /// Of a grant: the token says who it is.
    virtual void check_token(const call& c, const hold& h, const participants& places);

    /// Of a grant: it was its turn.
    virtual void check_first(const call& c, const participants& places);

    /// Of a grant: no participant has waited for the place for too long.
    virtual void check_turn(const call& c, const participant& place, fencing_token token) {
        turns_.granted(c, place, token);
    }

    /// A hold was given up by its program, and its znodes are to go.
    virtual void released(const held&) {}

    /// Of an error that another recipe would not tell.
    [[nodiscard]] virtual bool explains(const call&, std::error_code) const { return false; }

    /// Whether this may be watched besides: no participant, or the children.
    [[nodiscard]] virtual bool may_watch(const std::string& path, std::int64_t session) const;

    /// How its places change while a hold is held: before it is checked.
    virtual void follow(held&) {}

    /// All that are believed, besides by twos.
    virtual void check_together() {}

    /// Tokens increase. Of a grant that is valid and whose znode was there.
    virtual void check_order(const std::string& who,
                             const std::string& directory,
                             const wish& w,
                             fencing_token token);
    /// What the acquire may have asked for at most, but heartbeats, if nothing disturbed it.
    [[nodiscard]] virtual std::optional<testing::counters> budget(const call& c,
                                                                  const hold& h) const;
    virtual void check_wake_ups();
    virtual void check_watches(const model::connection& c, const client_record& by);
    virtual void removed(const participant& p);

    [[nodiscard]] bool believes(const held& h) const;
    /// The hold goes on by another place, and the one before may go.
    void replaces(const participant& before, const participant& now);
    /// Of a grant: no dead holder's delay lasts.
    void check_delays(const std::string& who, const participant& place);
    /// The longest time of a hold has passed.
    [[nodiscard]] static bool is_over(const held& h);
    /// Of the path of one of its participants, how many znodes there are above it.
    [[nodiscard]] static std::uint64_t levels_of(const client_record& by, const std::string& path);
    void add_contacts(testing::counters& most,
                      const client_record& by,
                      const std::string& path,
                      std::uint64_t woken) const;
    void check_was_first(const std::string& who,
                         const std::string& directory,
                         const participant& place,
                         const wish& w);
    [[nodiscard]] bool is_known_cause(std::error_code ec,
                                      const client_record& by,
                                      bool at_once) const;
    void check_refusal(const call& c, std::error_code ec);
    [[nodiscard]] bool was_refused(const call& c) const;
    void check_punctuality(const call& c);
    [[nodiscard]] client_record* client_of(std::int64_t session) const;

    /// What was asked for since `then` is no more than that.
    void check_asked(const std::string& who,
                     const testing::counters& then,
                     const testing::counters& now,
                     const testing::counters& most);

    /// Nothing has gone wrong so far.
    [[nodiscard]] bool quiet() const;

    stage& stage_;
    truth truth_;
    std::optional<chronicle> told_;
    turn_judge turns_;
    const std::set<std::string> queues_watched_;
    std::uint64_t directories_removed_ = 0;
    std::vector<std::shared_ptr<call>> calls_;  ///< not yet told
    std::vector<held*> holds_;
    std::map<std::string, fencing_token> granted_;  ///< the newest that was valid, by directory
    std::map<std::string, std::set<std::int64_t>> woken_;  ///< by the deletion of a path

private:
    void check_grant(const call& c, const hold& h);
    void check_unreachable(const call& c);
    void check_was_in_a_queue(const call& c, std::error_code ec);
    void check_callers(const call& c);
    void check_budget(const call& c, const hold& h);
    void check_place(const held& h, const participant& place, bool believed);
    void check_taken(const held& h, const participant& place);
    void check_lost(held& h);
    [[nodiscard]] bool undisturbed(const held& h, const participant& place) const;
    [[nodiscard]] bool its_server_knows(std::int64_t session, std::int64_t zxid) const;
    void overlap(held& a, held& b);
    void note_times(held& h);
    void note_early(const held& h, loss_reason why);
    void check_times(const held& h, bool believed);
    void check_stayed(const participant& gone);
    void note_death(const participant& gone);
    void note_record_removed(const std::string& path);
    void deal_committed(const model::transaction& t, const std::string& data);
    void follow_data(const model::transaction& t, const model::change& c);
    void check_named(const std::string& directory, const std::string& path, std::int64_t session);

    /// Of a place that is to stay.
    struct stay {
        std::shared_ptr<client_record> by;
        boottime_clock::time_point until;
    };

    /// A holder that had a delay, and did not leave by itself.
    struct death {
        std::shared_ptr<participant> place;
        std::shared_ptr<client_record> by;
        boottime_clock::time_point ends;  ///< its longest time: then it is as if released
        bool in_session;                  ///< its client may release it yet
        duration until;                   ///< at the earliest, by the fastest clock
        bool counted = false;
    };

    struct loss_record {
        std::shared_ptr<client_record> by;
        std::string who;
        std::stop_token lost;
        bool was_lost;
    };

    const bool asks_;  ///< valid(), which may itself end the hold; else valid_until()
    std::map<std::int64_t, std::shared_ptr<client_record>> clients_;  ///< by session
    std::vector<deal> deals_;
    std::vector<loss_record> losses_;
    std::map<std::string, fencing_token> outside_;    ///< what the resource has seen
    std::map<std::string, fencing_token> committed_;  ///< by guarded transactions
    /// The newest of them: its token and its zxid.
    std::map<std::string, std::pair<fencing_token, std::int64_t>> written_;
    std::map<std::string, std::string> data_of_;  ///< by directory
    std::map<std::string, stay> stays_;           ///< by path
    std::vector<death> deaths_;
    std::set<std::string> records_removed_;  ///< by an operator: directories and numbers
    std::map<std::int64_t, const model::connection*>
        farewells_;  ///< by session: where its end was asked for
};

}  // namespace latchkey::simulation
