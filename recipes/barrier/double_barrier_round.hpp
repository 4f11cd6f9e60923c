#pragma once

#include "queue/queue_recipe.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// One round of a double barrier: its participants, as the znode `ready` lists them.
///
/// The data version of the barrier's directory counts the participants that leave: each deletes its
/// own znode and writes to the directory in one transaction. `version` is the version at the
/// beginning of the round. In the end it tells whether all have left, or whether some were lost.
/// Curator's participants do not count there.
///
/// Later rounds change the version too. So the data of the directory is a note of the round that it
/// belongs to, and a participant that looks only then is told that its round has ended.
struct double_barrier_round {
    static constexpr std::string_view ready = "ready";
    /// The most participants of a round: about as many long names as fit into one request.
    static constexpr std::size_t most = 1000;
    /// The longest data of `ready`.
    static constexpr std::size_t longest = 256 * 1024;
    /// The longest data of the directory that can be a note, with room for what later versions add.
    static constexpr std::size_t longest_note = 4096;
    /// The prefix of the names of Latchkey's participants. Curator's names are bare UUIDs.
    static constexpr std::string_view prefix = "member-";

    std::vector<std::string> members;
    std::optional<std::int32_t> version;  ///< none: a Curator participant began it, without a list

    [[nodiscard]] bool has(std::string_view name) const noexcept {
        return std::find(members.begin(), members.end(), name) != members.end();
    }

    /// Those of `names` that are in this round.
    [[nodiscard]] std::vector<std::string> left_of(std::vector<std::string> names) const {
        std::erase_if(names, [this](const std::string& name) { return !has(name); });
        return names;
    }

    /// Whether all participants that count have left, if the directory is at version `now` and has
    /// this data; true also if a later round has begun.
    [[nodiscard]] bool all_have_left(std::int32_t now, const std::string& data) const;

    /// Writes and reads the data of the directory while a round is on: the version at the beginning
    /// of that round. Nothing if the data is not ours.
    [[nodiscard]] std::string note() const;
    [[nodiscard]] static std::optional<std::int32_t> read_note(const std::string& data);

    /// As many of `members` as fit into one round, `own` among them.
    [[nodiscard]] static std::vector<std::string> those_that_fit(std::vector<std::string> members,
                                                                 const std::string& own);

    /// Begins this round in a directory that is one version behind it, if all members still exist.
    /// The write gives the directory a version that no earlier round has seen.
    [[nodiscard]] request opening(const queue_recipe& recipe) const;

    /// Writes and reads the data of `ready`. Nothing if the data is not ours.
    [[nodiscard]] std::string write() const;
    [[nodiscard]] static std::optional<double_barrier_round> read(const std::string& data);
};

}  // namespace latchkey::inline v0
