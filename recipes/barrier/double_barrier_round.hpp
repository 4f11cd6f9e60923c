#pragma once

#include "client/client_core.hpp"
#include "queue/queue_recipe.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

/// One round of a double barrier: who takes part, as the znode `ready` has it.
///
/// The data version of the barrier's directory counts those who leave: each deletes its own znode
/// and writes the directory in one transaction. So `version`, as it is when the round
/// begins, tells in the end whether all have left or some were lost. Curator's participants do not
/// count there.
///
/// Later rounds change the version too, and somebody may hear only then that its own is over. So
/// the directory's data tells of the round that is on, and of the last ones that lost somebody:
/// whoever begins one has seen how the one before has ended, and those who leave write the same
/// again.
struct double_barrier_round {
    static constexpr std::string_view ready = "ready";
    /// How many rounds that lost somebody are remembered.
    static constexpr std::size_t memory = 16;
    /// How many take part at most: about as many as one request can speak of, with long names.
    static constexpr std::size_t most = 1000;
    /// What `ready` may take.
    static constexpr std::size_t longest = 256 * 1024;
    /// What the names of Latchkey's participants begin with; Curator's are bare UUIDs.
    static constexpr std::string_view prefix = "member-";

    std::vector<std::string> members;
    std::optional<std::int32_t> version;    ///< none: Curator opened it, and wrote down nothing
    std::vector<std::int32_t> broken = {};  ///< the versions of earlier ones that lost somebody

    /// Of the first ones, how many one round can have.
    [[nodiscard]] static std::size_t how_many_fit(const std::vector<std::string>& members) noexcept;

    [[nodiscard]] bool has(std::string_view name) const noexcept;

    /// Those of `names` that are of this round.
    [[nodiscard]] std::vector<std::string> left_of(const std::vector<std::string>& names) const;

    /// The next one, begun in a directory that is at `now` and has this data.
    [[nodiscard]] static double_barrier_round after(std::int32_t now,
                                                    const std::string& data,
                                                    std::vector<std::string> members);

    /// Whether all of those who count have left, the directory being at `now` and having this data.
    [[nodiscard]] bool all_have_left(std::int32_t now, const std::string& data) const;

    /// Whether none has begun since, the directory having this data.
    [[nodiscard]] bool is_the_last(const std::string& data) const;

    /// The directory's data while it is on.
    [[nodiscard]] std::string note() const;

    /// The data of `ready`, and back; nothing of data that is not ours.
    [[nodiscard]] std::string write() const;
    [[nodiscard]] static std::optional<double_barrier_round> read(const std::string& data);
};

/// All but `ready`.
[[nodiscard]] std::vector<std::string> members_in(std::vector<std::string> names);

/// Of the Latchkey participants among `members`, the last one ahead of `own` by name; empty if
/// there is none.
[[nodiscard]] std::string nearest_before(const std::string& own,
                                         const std::vector<std::string>& members);

/// What a double barrier object knows of itself, between its calls. On the loop only, but for what
/// says otherwise.
struct double_barrier_state {
    enum class state : std::uint8_t { outside, entering, inside, leaving };

    queue_recipe as;
    std::uint32_t wanted = 1;

    std::atomic<state> now = state::outside;  ///< any thread
    std::atomic<std::int64_t> session{0};     ///< that it entered with; any thread
    bool abandoned = false;                   ///< nobody is left who could leave
    bool directory_known = false;
    std::string own;               ///< the name of its znode
    std::uint64_t generation = 0;  ///< that it is of
    bool in_doubt = false;         ///< the answer to a create of it was lost
    double_barrier_round round;
    std::int64_t directory = 0;  ///< its czxid: another one of that name has versions of its own

    /// It is gone, or is being deleted. Names are not used again.
    void forget_own(const std::shared_ptr<client_core>& core);
};

}  // namespace latchkey
