#pragma once

#include "ensemble/server/transaction.hpp"
#include "leader_candidate.hpp"
#include "stage.hpp"
#include "truth.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::simulation {

class leader_log;

/// What the servers' log tells of mailboxes and of the offers in them: who is offered the
/// leadership, by whom, and when. Reads names and letters by itself, not by the recipes' code.
class leader_offers {
public:
    leader_offers(stage& s, const truth& t, const leader_log& log)
        : stage_(s), truth_(t), log_(log) {}

    void applied(const model::transaction& t);

    /// The one who has left `left` for a place right behind `leader` was offered that, and is not
    /// too late.
    void check_accepted(const participant& leader, const participant& left) const;

    /// A term has ended at that time, and its latch has not.
    void resigned(candidacy& c, duration since);

    /// After every event: no mailbox is there without its candidate for longer than it takes.
    void check_mailboxes() const;
    /// ... and who is better has been offered the leadership by now.
    void check_preferred(const candidacy& leader) const;
    /// ... and what a client has asked for has been done.
    void check_petition(const candidacy& leader) const;

    /// How many mailboxes there are.
    [[nodiscard]] std::size_t size() const noexcept { return mailboxes_.size(); }

private:
    struct mailbox {
        std::string directory;  ///< of the election
        int priority = 0;
        std::shared_ptr<candidacy> of;
        std::shared_ptr<participant> place;  ///< its candidate's
        duration since{};                    ///< there was the first of its name
        lull quiet;                          ///< ... since it is there
        std::optional<lull> alone = {};      ///< ... since its candidate is not
        std::string offer_of = {};           ///< the leader's znode; empty: none is open
    };

    /// One in the queue.
    struct queued {
        std::shared_ptr<participant> what;
        duration since{};
        bool has_mailbox = false;  ///< or had one
    };

    /// The offers that one candidate makes to another one because it is better.
    struct series {
        duration earliest{};   ///< the last one was decided no sooner
        duration committed{};  ///< the last one
    };

    void opened(const model::change& c);
    void check_contact(const model::change& c);
    void closed(const std::string& path);
    void overwritten(const std::string& path);
    void came_or_went(const std::string& path);
    void check_cooling(const std::string& path, const mailbox& m, const queued& place);
    void written(const model::transaction& t, const model::change& c);
    void asked(const mailbox& m, const std::string& to);
    void offers(const participant& leader, const std::string& path);
    void check_alone(const participant& leader, const std::string& path) const;
    void check_better(const participant& leader, const candidacy& c, const mailbox& to) const;
    void check_time(const participant& leader, const candidacy& c, const std::string& path);
    void check_best(const candidacy& c, const mailbox& to) const;
    [[nodiscard]] duration first_since(const participant& leader) const;
    [[nodiscard]] bool is_ripe(const mailbox& m, const candidacy& leader) const;

    stage& stage_;
    const truth& truth_;
    const leader_log& log_;
    std::map<std::string, mailbox> mailboxes_;  ///< those there, by path
    std::map<std::string, duration> since_;     ///< when there was the first, by path
    std::map<std::string, duration> closed_;    ///< when one was the last time, by election
    std::map<std::string, queued> queued_;      ///< who ever was, by GUID
    std::map<std::pair<std::size_t, std::string>, series> series_;  ///< by candidacy, and mailbox
};

}  // namespace latchkey::simulation
