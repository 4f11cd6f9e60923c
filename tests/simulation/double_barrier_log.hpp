#pragma once

#include "ensemble/server/transaction.hpp"
#include "stage.hpp"
#include "truth.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace latchkey::simulation {

/// One round of a double barrier.
struct barrier_round_record {
    std::int64_t zxid = 0;
    participants members;
    bool meddled = false;         ///< the operator took away what tells of it, and of earlier ones
    std::set<std::string> known;  ///< the members that were told that it began, by path
};

/// What the servers' log tells of double barriers: which rounds begin, with whom, and how each of
/// them ended. Reads what is written there by itself, not by the recipes' code.
class double_barrier_log {
public:
    using round = std::shared_ptr<barrier_round_record>;

    double_barrier_log(stage& s, truth& t) : stage_(s), truth_(t) {}

    void applied(const model::transaction& t, const participants& changed);

    /// All that ever began, in order.
    [[nodiscard]] const std::vector<round>& rounds_of(const std::string& directory) const;

    /// That is on, or was not cleared away.
    [[nodiscard]] bool is_on(const std::string& directory) const;

    /// A client was asked to create this.
    void asked(const std::string& path, duration when) { asked_.emplace(path, when); }

    /// What the object wrote that created it, and when that was asked for: it may be done late.
    [[nodiscard]] const std::string& data_of(const participant& p) const {
        return data_.at(p.path);
    }

    [[nodiscard]] duration asked_for(const participant& p) const { return asked_.at(p.path); }

    /// Whether it ended with a leave(): its znode was deleted, and that counted, at once.
    [[nodiscard]] bool left_by_itself(const participant& p) const {
        return left_.contains(p.czxid);
    }

    /// How many places were given up or lost since then.
    [[nodiscard]] std::uint64_t gone_since(const std::string& directory, duration when) const;

    /// Created by a double_barrier.
    [[nodiscard]] static bool is_ours(const participant& p) { return !p.foreign(); }

private:
    struct place {
        round on;
        std::vector<round> rounds;
        std::vector<duration> gone;  ///< when its participants went
    };

    void begins(const model::transaction& t, const std::string& directory, const std::string& data);
    void cleared(const model::transaction& t, const std::string& directory);
    void check_members(const std::string& directory, const barrier_round_record& r);
    [[nodiscard]] bool was_in_a_meddled_round(std::int64_t session,
                                              const std::string& directory) const;

    stage& stage_;
    truth& truth_;
    std::map<std::string, place> places_;      ///< by directory
    std::map<std::string, std::string> data_;  ///< by path
    std::map<std::string, duration> asked_;    ///< by path; the first time
    std::set<std::int64_t> left_;              ///< czxids: a create may be repeated
};

}  // namespace latchkey::simulation
