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

/// What somebody who listens besides has heard.
struct second_listener {
    bool leads = false;
    fencing_token newest;
};

/// A leader_latch's promises. What is different from a mutex's:
///
///   I1   For terms; the znode stays until those who listen were told that the term is over.
///   I2   So a term ends when it is resigned, and with the connection for who wants that, before
///        that is told; with the connection for nobody else.
///   I3   Tokens are those that the servers' log tells (leader_log), and increase from term to
///        term.
///   I4   A term begins only for the first in the queue; so does no record of it.
///   I5   What somebody else put where the record is stays there. Nobody's mailbox is there for
///        longer than he is.
///   I8   Once all is well again, everybody leads in his turn.
///   I9   Listeners hear of each term once, of its beginning and of its end, when it happens; after
///        a silent close of nothing. Who waits is told a term, or why not. What is proclaimed is
///        written, if so much is told, and only then. The record tells who leads, what he has
///        published last and who has not given up before; "clean" is written by who gives up, in
///        the transaction that deletes his znode.
///   I7   The end of a term that is handed over wakes the successor besides.
///   I8   So whom a leader has let in right behind it is the next.
///   I9   Nobody is let in there who takes no part in that, and behind nobody else.
///   I12  The leadership is offered to one at a time, which has not been let in yet; unasked to
///        the best alone: of higher priority than the leader, seen for the hysteresis time in this
///        term, and not again for as long. Nobody has a priority that has just resigned, or has
///        failed until it has cooled down. Whoever is let in was offered that; and within the drain
///        time the leader gives way.
///   I8   And the best is offered it then.
///   I11  Becoming the leader takes one round trip if nobody else was, two when he is gone.
class leader_judge final : public election_judge {
public:
    explicit leader_judge(stage& s) : election_judge(s), offers_(s, truth_, elections_) {}

    // What candidates do and are told.

    void waited(call& c, std::error_code ec, const leadership& term, const candidacy& by);
    void elected(candidacy& c, const leadership& term);
    void lost(candidacy& c, const leadership& term, loss why);
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
    void answering(const model::connection& c, const request& r) override;
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
