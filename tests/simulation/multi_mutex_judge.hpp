#pragma once

#include "judge.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace latchkey::simulation {

/// The promises of multi_mutexes, beside mutexes in the same directories. What is different from a
/// mutex's, for one that is granted several places:
///
///   I1   All that it is about, created at once, and never a part of it: it is kept until the
///        release, and given up at once, if nothing makes that impossible. In each directory one
///        holds, of whatever kind.
///   I3   One token for all places: not below any of their czxids, and below that of any later
///        participant of each directory that was still there then.
///   I4   The first everywhere, and nobody who never was that at once: unless nobody was ahead
///        in any of the lists behind its creation, which are not of one moment.
///   I6   A waiter watches one znode of others in each directory.
/// It knows what was read and what disturbed a release, which no history has.
class multi_mutex_judge final : public judge {
public:
    using judge::judge;

    void answering(const model::connection& c, const request& r, result_code code) override;

private:
    void applied(const model::transaction& t, const participants& changed) override;
    void check_token(const call& c, const hold& h, const participants& places) override;
    void check_first(const call& c, const participants& places) override;
    [[nodiscard]] std::optional<testing::counters> budget(const call& c,
                                                          const hold& h) const override;
    void released(const held& h) override;
    void removed(const participant& p) override;

    /// What was released undisturbed, and may not be there in part.
    struct farewell {
        participants places;
        std::shared_ptr<client_record> by;
        duration since{};
        std::uint64_t disturbances = 0;
        std::uint64_t pauses = 0;
    };

    [[nodiscard]] bool undisturbed(const farewell& f) const;

    std::vector<farewell> farewells_;
    std::set<std::string> read_;  ///< paths
};

}  // namespace latchkey::simulation
