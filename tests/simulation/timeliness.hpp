#pragma once

#include "ensemble/server/transaction.hpp"
#include "judge.hpp"
#include "stage.hpp"

#include <cstdint>
#include <map>

namespace latchkey::simulation {

/// Who is hindered, so that a judge can tell what is late from what cannot be sooner. It looks now
/// and then. On the loop only.
class timeliness {
public:
    explicit timeliness(stage& s) : stage_(s) {}

    void applied(const model::transaction& t);

    /// Looks, if it is time to; false if it is not.
    [[nodiscard]] bool looks();

    /// Whether nothing has kept that client since then from being told what there is, and from
    /// doing what is to be done: it ran, its connection has carried what was sent, and its server
    /// knew what was committed.
    [[nodiscard]] bool unhindered(const client_record& by, duration then) const;

    /// The same for what it learns by events: who may not read a directory for a while gets no
    /// event of it, until its next connection.
    [[nodiscard]] bool watches_unhindered(const client_record& by, duration then) const;

    /// What takes longer is late: a few round trips, the longest pause before a step is repeated,
    /// and those waits that are not for a server which refuses everything.
    [[nodiscard]] duration soon() const;

private:
    [[nodiscard]] std::int64_t known_everywhere() const;
    [[nodiscard]] std::uint64_t strikes() const;

    stage& stage_;
    duration next_look_{};
    std::uint64_t strikes_ = 0;
    duration struck_at_{};                          ///< last
    std::map<duration, std::int64_t> committed_;    ///< zxids, by when
    std::map<std::int64_t, duration> hindered_at_;  ///< last, by session
};

}  // namespace latchkey::simulation
