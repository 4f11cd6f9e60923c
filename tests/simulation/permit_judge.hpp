#pragma once

#include "judge.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::simulation {

/// A semaphore's promises, and those of Curator's kind. What is different from a mutex's; I1, I3
/// and I4 the rules of tests/history judge:
///
///   I1   No grant brings the permits that are taken above the limit, as it is stored then; who
///        has some keeps them when it is lowered. All that were asked for are taken at once, or
///        none.
///   I2   For each of the permits.
///   I3   Tokens say who it is, and order nothing.
///   I4   Only the first in the queue takes permits, and leaves the queue as it takes them; callers
///        of one object do not wait for each other.
///   I5   Neither in the queue nor among the permits.
///   I6   Only the first in the queue watches the permits and the limit.
///   I9   A limit that is not the one stored is an error, and so are more permits than it.
class permit_judge final : public judge {
public:
    explicit permit_judge(stage& s);

    [[nodiscard]] bool orders(const held&) const override { return false; }

private:
    [[nodiscard]] bool may_be_beside(const held&, const held&) const override { return true; }

    void applied(const model::transaction& t, const participants& changed) override;
    void check_token(const call& c, const hold& h, const participants& places) override;
    void check_first(const call& c, const participants& places) override;
    void follow(held& h) override;
    void released(const held& h) override;

    void check_order(const std::string&, const std::string&, const wish&, fencing_token) override {}

    [[nodiscard]] bool may_watch(const std::string& path, std::int64_t session) const override;
    [[nodiscard]] bool explains(const call& c, std::error_code ec) const override;
    [[nodiscard]] std::optional<testing::counters> budget(const call& c,
                                                          const hold& h) const override;

    struct semaphore {
        std::string path;
        std::string queue;
        std::string permits;
        std::set<std::uint32_t> limits;  ///< all that ever were
        duration made{};                 ///< when there was one at last
    };

    void note_limit(semaphore& s, const model::change& c);
    void note_head(semaphore& s);
    [[nodiscard]] std::int64_t holder_of_watches(std::int64_t session) const;
    [[nodiscard]] const semaphore& of(const call& c) const;

    const bool leases_;
    std::vector<semaphore> semaphores_;
    std::set<std::pair<std::string, std::int64_t>> heads_;  ///< that were: by queue
    std::uint64_t resizes_ = 0;
    std::map<std::string, std::size_t> turns_;  ///< by attempt
};

}  // namespace latchkey::simulation
