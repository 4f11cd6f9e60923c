#pragma once

#include <latchkey/leader_observer.hpp>

#include "ensemble/server/transaction.hpp"
#include "judge.hpp"
#include "leader_log.hpp"
#include "stage.hpp"
#include "timeliness.hpp"
#include "truth.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::simulation {

/// One leader_observer, from its construction to its end.
struct observation {
    std::shared_ptr<client_record> by;
    std::string who;
    std::string directory;
    const leader_observer* observer = nullptr;  ///< null once it is destroyed
    duration begun{};
    bool told = false;
    std::optional<leader_info> last;   ///< what was reported last
    std::optional<std::size_t> reign;  ///< ... which of the directory's that was, at least
    std::size_t record = 0;            ///< ... and which record it was read from, at least
    // What it may have asked for by now.
    bool counted = false;
    testing::counters most;
};

/// The promises of leader_observer, compared with the servers' log.
///
///   I8   Once nothing hinders it, an observer reports within a few round trips who leads, and what
///        the leader has published.
///   I9   It reports no leader that was never the first of the queue, with no data or token that
///        was not published for it. Between two leaders it reports that nobody leads, and only
///        then. Nothing is reported twice in a row, or after something newer, or after its end.
///   I11  What it asks for depends on how often the leader changes, not on who else comes.
class observer_judge {
public:
    observer_judge(stage& s,
                   const truth& t,
                   const leader_log& elections,
                   const std::set<std::string>& directories);

    [[nodiscard]] std::shared_ptr<observation> begins(std::shared_ptr<client_record> by,
                                                      std::string who,
                                                      std::string directory);
    void reports(observation& o, const std::optional<leader_info>& now);
    /// Right after its destruction.
    void ends(observation& o);

    /// This client has candidates, whose requests are counted elsewhere.
    void competes(const client_record& by) { competing_.insert(&by); }

    [[nodiscard]] bool observed(const client_record& by) const { return watched_.contains(&by); }

    /// Of the servers' watches: the directory, its children, and znodes of the queue.
    [[nodiscard]] bool may_watch(const std::string& path, const client_record& by) const;

    void applied(const model::transaction& t);

    /// After every event.
    void check();

private:
    /// A time in which one znode, or none, was the first of the queue.
    struct reign {
        std::string path;  ///< empty: there is no leader
        std::int64_t czxid = 0;
        bool over = false;
    };

    struct election {
        bool there = false;
        std::map<std::pair<std::string, std::int64_t>, std::string> queue;  ///< by number, czxid
        std::vector<reign> reigns{1};
        duration changed{};  ///< what there is to be reported
    };

    [[nodiscard]] std::string number_of(const std::string& path) const;
    void changed(election& e, const model::change& c);
    void note_first(const std::string& directory, election& e);
    void check_reign(observation& o, const leader_info& now);
    void check_read(observation& o, const leader_info& now);
    [[nodiscard]] bool tells(const std::optional<leader_log::state>& s,
                             const leader_info& now,
                             const client_record& by) const;
    [[nodiscard]] std::optional<leader_info> present(const observation& o) const;
    void check_timely(const observation& o);
    void check_cost(const client_record& by);
    void allow(const std::string& directory, std::uint64_t lists, std::uint64_t gets);

    stage& stage_;
    const truth& truth_;
    const leader_log& log_;
    const std::string marker_;
    std::map<std::string, election> elections_;            ///< by directory
    std::map<std::string, std::vector<std::string>> ids_;  ///< all that a znode's data ever was
    std::map<std::string, std::vector<std::int64_t>> created_;  ///< czxids that a path ever had
    std::vector<std::shared_ptr<observation>> observations_;
    std::map<const client_record*, std::set<std::string>> watched_;
    std::set<const client_record*> competing_;
    timeliness timely_;
};

}  // namespace latchkey::simulation
