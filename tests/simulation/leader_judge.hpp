#pragma once

#include <latchkey/leader_latch.hpp>

#include "election_judge.hpp"
#include "leader_offers.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::simulation {

/// What was reported to a second listener.
struct second_listener {
    bool leads = false;
    fencing_token newest;
};

/// A leader_latch's promises. What is different from a mutex's:
///
///   I1   For terms. The znode stays until the listeners were notified that the term is over.
///   I2   So a term ends when it is resigned, before that is reported. It ends with the connection
///        only for a candidate that steps down when suspended, also before that is reported.
///   I3   Tokens are those of the servers' log (leader_log), and increase from term to term.
///   I4   A term begins only for the first in the queue. So does its record.
///   I5   What another program put in the place of the record stays there. A mailbox exists no
///   longer
///        than its candidate.
///   I8   Once all faults have ended, each candidate leads in its turn.
///   I9   Listeners are notified of each term once, of its beginning and of its end, when it
///   happens;
///        after a silent close of nothing. A caller that waits gets a term, or the reason why not.
///        Data is proclaimed successfully only if it was written. The record names the leader, the
///        data that it published last, and the last leader that ended without giving up. "clean" is
///        written by the leader that gives up, in the transaction that deletes its znode.
///   I7   The end of a term that is handed over wakes the successor, too.
///   I8   So a candidate that a leader has placed right behind itself is the next.
///   I9   Only a candidate that takes part in transfers is placed there, and only behind the
///   leader. I12  The leadership is offered to one candidate at a time, which has not been placed
///   yet. Unasked
///        it is offered only to the best: of higher priority than the leader, seen for the
///        hysteresis time in this term, and not again for as long. A candidate has no priority if
///        it has just resigned, or has failed and not cooled down. A candidate that is placed was
///        offered that; and the leader hands over within the drain time.
///   I8   And the leadership is offered to the best then.
///   I11  Becoming the leader takes one round trip if there was no other leader, two when it has
///   left.
class leader_judge final : public election_judge {
public:
    explicit leader_judge(stage& s) : election_judge(s), offers_(s, truth_, elections_) {}

    void told_next(const participant& leader, const std::string& text) override {
        elections_.told(leader, text);
    }

    // What candidates do, and what is reported to them.

    void waited(call& c, std::error_code ec, const leadership& term, const candidacy& by);
    void elected(candidacy& c, const leadership& term);
    void lost(candidacy& c, const leadership& term, loss_reason why);
    using election_judge::refused;
    /// Returns which order it is.
    [[nodiscard]] std::size_t hands_over(candidacy& c, std::string to);
    void transferred(candidacy& c,
                     std::size_t order,
                     std::error_code ec,
                     leader_latch::transfer what);
    void chosen(candidacy& c);
    void resigned(candidacy& c);
    /// Right after it; `by_its_end`: with its destructor.
    void closed(candidacy& c, leader_latch::closing how, bool by_its_end);
    void hears(second_listener& l, const candidacy& c, const leadership& term, bool leads);

    // judge
    void answering(const model::connection& c, const request& r, result_code code) override;
    [[nodiscard]] bool empty() const override;

private:
    void applied(const model::transaction& t, const participants& changed) override;
    void let_in(const participant& successor, const participants& changed);
    [[nodiscard]] bool may_watch(const std::string& path, std::int64_t session) const override;
    void check_wake_ups() override;

    [[nodiscard]] bool explains(const call& c, std::error_code ec) const override;
    void check_together() override;

    void look(candidacy& c);
    void begin_term(candidacy& c, const leadership& term);
    void check_begun(candidacy& c);
    void check_present(candidacy& c);
    void check_round_trips(const candidacy& c);
    void check_handing_over(candidacy& c);
    [[nodiscard]] bool takes_part(const participant& place) const;

    leader_offers offers_;
    std::map<std::int64_t, testing::counters> at_create_;  ///< asked for by its answer, by session
};

}  // namespace latchkey::simulation
