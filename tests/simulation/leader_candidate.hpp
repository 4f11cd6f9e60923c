#pragma once

#include <latchkey/leader_latch.hpp>

#include "judge.hpp"
#include "stage.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::simulation {

/// A transfer that a leader was asked for.
struct transfer_order {
    std::string from;  ///< the leader's znode, below its chroot
    std::string to;    ///< whose id
    bool ended = false;
};

/// For how long a candidate is to be preferred to nobody, and which of its places that is about.
struct cooling {
    duration since{};  ///< those that it took from then on
    duration until{};
    const char* why = "";
};

/// To tell later whether anything has gone wrong since. What went wrong before is to be over for a
/// while: elections, and who waits before it tries again.
class lull {
public:
    explicit lull(const stage& s)
        : since_(s.now()),
          calm_(s.troubles == 0 &&
                (s.last_trouble == duration{} || since_ > s.last_trouble + s.what.session_timeout)),
          disturbances_(s.disturbances) {}

    [[nodiscard]] duration since() const noexcept { return since_; }

    /// Nothing has, and `by` has heard and said everything at once.
    [[nodiscard]] bool lasts(const stage& s, const client_record& by) const {
        const duration settled = since_ - s.hops(20) - std::chrono::milliseconds(20);
        return calm_ && s.troubles == 0 && s.disturbances == disturbances_ &&
               s.last_cut < settled && by.connected_at < settled && by.running_since < settled &&
               !by.suspended && !by.paused && !by.ended && !by.crashed;
    }

private:
    duration since_;
    bool calm_;
    std::uint64_t disturbances_;
};

/// A message of a client that wants a leader to hand over.
struct petition {
    std::string to;  ///< the id of the successor; empty: to the next in the queue
    lull quiet;      ///< since it was written
};

/// One latch or selector, from its construction to its end.
struct candidacy {
    std::shared_ptr<client_record> by;
    std::string who;
    std::string directory;
    std::size_t number = 0;               ///< of all
    const leader_latch* latch = nullptr;  ///< null once it is destroyed
    std::optional<leader_preference> preference;
    std::string data;      ///< that each of its terms begins with
    bool selects = false;  ///< a selector: knows of no leader before it, and may publish nothing
    bool steps_down = false;
    bool closed = false;
    bool silent = false;         ///< closed without a word
    std::unique_ptr<held> term;  ///< from when it can be seen until its end was told
    leadership handle;
    bool elected = false;                ///< so much was told of it
    std::string newest;                  ///< the znode of the last term
    duration begun{};                    ///< when that could be seen first
    std::optional<lull> quiet;           ///< ... since then
    std::optional<duration> asked_back;  ///< when it was first to be seen that it is to finish
    bool gave_up = false;                ///< its last term
    bool offered = false;                ///< the leadership to a candidate, in its last term
    std::vector<transfer_order> orders;
    /// What somebody else has asked for, while it led; until that is followed, or cannot be known.
    std::optional<petition> asked;
    std::string to_finish;  ///< its znode that was asked to, without a named successor
    int chosen = 0;         ///< so often was that told
    int let_in = 0;         ///< ... and done
    std::vector<cooling> coolings;
    duration may_cool_until{};   ///< it may believe so
    bool may_read_late = false;  ///< it was stopped when it lost a place that had read of a failure
    // To count its requests by, if nothing disturbs it.
    bool undisturbed = false;
    std::uint64_t terms = 0;
    std::uint64_t connections_before = 0;
    std::uint64_t wake_ups_before = 0;
    testing::counters asked_before;

    /// In transfers.
    [[nodiscard]] bool takes_part() const noexcept { return preference.has_value(); }

    /// Of its last term.
    [[nodiscard]] bool led_as(const std::string& path) const {
        return !newest.empty() && by->chroot + newest == path;
    }
};

using candidacies = std::vector<std::shared_ptr<candidacy>>;

/// The name at the end of a path.
[[nodiscard]] inline std::string_view last_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace latchkey::simulation
