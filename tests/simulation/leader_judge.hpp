#pragma once

#include <latchkey/leader_latch.hpp>

#include "judge.hpp"
#include "leader_log.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::simulation {

/// One latch, from its construction to its end.
struct candidacy {
    std::shared_ptr<client_record> by;
    std::string who;
    std::string directory;
    const leader_latch* latch = nullptr;  ///< null once it is destroyed
    bool steps_down = false;
    bool takes_part = false;  ///< in transfers
    bool closed = false;
    bool silent = false;         ///< closed without a word
    std::unique_ptr<held> term;  ///< from when it can be seen until its end was told
    leadership handle;
    bool elected = false;  ///< so much was told of it
    std::string newest;    ///< the znode of the last term
    // To count its requests by, if nothing disturbs it.
    bool undisturbed = false;
    std::uint64_t terms = 0;
    std::uint64_t connections_before = 0;
    std::uint64_t wake_ups_before = 0;
    testing::counters asked_before;
};

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
///   I5   What somebody else put where the record is stays there.
///   I8   Once all is well again, everybody leads in his turn.
///   I9   Listeners hear of each term once, of its beginning and of its end, when it happens; after
///        a silent close of nothing. Who waits is told a term, or why not. What is proclaimed is
///        written, if so much is told, and only then.
///   I7   The end of a term that is handed over wakes the successor besides.
///   I8   So whom a leader has let in right behind it is the next.
///   I9   Nobody is let in there who takes no part in that, and behind nobody else.
///   I11  Becoming the leader takes one round trip if nobody else was, two when he is gone.
class leader_judge final : public judge {
public:
    explicit leader_judge(stage& s) : judge(s), elections_(s, truth_, queues_watched_) {}

    // What candidates do and are told.
    void begins(const std::shared_ptr<candidacy>& c);
    void waited(call& c, std::error_code ec, const leadership& term, const candidacy& by);
    void elected(candidacy& c, const leadership& term);
    void lost(candidacy& c, const leadership& term, loss why);
    void refused(const candidacy& c, std::error_code why);
    void transferred(const candidacy& c,
                     const std::string& from,
                     std::error_code ec,
                     leader_latch::transfer what);
    void resigned(const candidacy& c);
    /// Right after it; `by_its_end`: with its destructor.
    void closed(candidacy& c, leader_latch::closing how, bool by_its_end);
    void hears(second_listener& l, const candidacy& c, const leadership& term, bool leads);

    [[nodiscard]] leader_log& elections() noexcept { return elections_; }

    // judge
    void answering(const model::connection& c, const request& r) override;
    [[nodiscard]] bool idle() const override;
    [[nodiscard]] bool empty() const override;
    void check_end() override;

private:
    void applied(const model::transaction& t, const participants& changed) override;
    void let_in(const participant& successor);
    [[nodiscard]] bool may_watch(const std::string& path, std::int64_t session) const override;
    void check_wake_ups() override;

    [[nodiscard]] bool explains(const call& c, std::error_code ec) const override;
    void check_together() override;

    void look(candidacy& c);
    void begin_term(candidacy& c, const leadership& term);
    void check_begun(candidacy& c);
    void check_present(const candidacy& c);
    void check_round_trips(const candidacy& c);
    [[nodiscard]] bool takes_part(const participant& place) const;
    [[nodiscard]] bool can_be_refused(const std::string& directory,
                                      const client_record& by,
                                      std::error_code why) const;

    leader_log elections_;
    std::vector<std::shared_ptr<candidacy>> candidacies_;
    std::map<std::int64_t, testing::counters> at_create_;  ///< asked for by its answer, by session
};

}  // namespace latchkey::simulation
