#pragma once

#include "judge.hpp"
#include "leader_candidate.hpp"
#include "leader_log.hpp"
#include "observer_judge.hpp"

#include <memory>
#include <string>
#include <system_error>

namespace latchkey::simulation {

/// What the judges of elections have in common: candidates, the leaders' records, and observers.
/// What is published and heard of depends on who was hindered, and when, which no history has.
class election_judge : public judge {
public:
    explicit election_judge(stage& s)
        : judge(s),
          elections_(s, truth_, queues_watched_, candidacies_),
          observers_(s, truth_, elections_, queues_watched_) {}

    /// Before its object is made; gives it a number.
    void begins(const std::shared_ptr<candidacy>& c);

    /// An observer is made. `by` sends requests that belong to none of its candidates.
    [[nodiscard]] std::shared_ptr<observation> observes(const std::shared_ptr<client_record>& by,
                                                        const std::string& who,
                                                        const std::string& directory);

    /// `by` is about to send requests that belong to none of its candidates.
    void disturbs(client_record& by);

    [[nodiscard]] leader_log& elections() noexcept { return elections_; }

    [[nodiscard]] observer_judge& observers() noexcept { return observers_; }

    // judge
    [[nodiscard]] bool idle() const override;
    void check_end() override;

protected:
    void applied(const model::transaction& t, const participants& changed) override;
    [[nodiscard]] bool may_watch(const std::string& path, std::int64_t session) const override;
    void check_wake_ups() override;
    void check_together() override;

    /// They are woken by the end of a leader, besides the waiter behind it.
    void forget_woken_observers();

    /// Takes the term into `c.term`; reports, and is false, if it is not one of the candidate's
    /// own.
    bool begins_term(candidacy& c, const leadership& term);
    /// Its first term, if nothing has disturbed it, took no more requests than that.
    [[nodiscard]] bool undisturbed(const candidacy& c) const;
    void refused(const candidacy& c, std::error_code why);
    [[nodiscard]] bool can_be_refused(const std::string& directory,
                                      const client_record& by,
                                      std::error_code why) const;

    candidacies candidacies_;  ///< by number
    leader_log elections_;
    observer_judge observers_;
};

}  // namespace latchkey::simulation
