#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "queue/znode_names.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::inline v0 {

/// Proves by its number that a new participant of an object is the first in its queue: no list.
///
/// A directory counts the znodes that are created in it, and a sequential name ends in that count.
/// Participant n of the object was the first, and is gone. If the object's next one has number
/// n + 1, no znode was created between them, so that one is the first. This is true of one and the
/// same directory. A data watch on it reports its removal before any create in the next directory
/// of that name is answered. A number proves nothing about what was granted on another connection.
///
/// Only for queues whose participants are all exclusive. On the loop only; its owner may be
/// destroyed anywhere.
class sequence_proof final : public std::enable_shared_from_this<sequence_proof>, session::watcher {
public:
    /// What is sent behind the create of the next participant.
    enum class need : std::uint8_t {
        list,   ///< the number cannot prove anything
        watch,  ///< the number can, if the watch is set
        nothing
    };

    sequence_proof(std::shared_ptr<client_core> core, const queue_markers& markers)
        : core_(std::move(core)), markers_(markers), needed_(core_->alone_after()) {}

    /// `own`, a path, was created by `czxid` and is granted: no participant is ahead. `alone`: none
    /// was seen since it joined, ahead or behind.
    void note_grant(const std::string& own, std::int64_t czxid, bool alone);

    /// `own` is proven gone.
    void note_end(const std::string& own);

    [[nodiscard]] need next() const noexcept;

    /// Sets the watch: one read. False if it is not set, or on another directory.
    [[nodiscard]] oneshot<bool> watch();

    /// Whether `created`, whose create was answered on this connection, is the first. If it is not,
    /// other participants use the lock: the object lists until it has been alone for twice as long.
    [[nodiscard]] bool proves(const std::string& created);

private:
    // session::watcher, of the directory
    [[nodiscard]] bool is_on(std::string_view) const noexcept override { return true; }

    void on_event(watch_event) override { drop(); }

    void drop() noexcept { watched_on_ = 0; }

    [[nodiscard]] bool is_watched() const noexcept;
    [[nodiscard]] bool follows(std::string_view name) const noexcept;

    const std::shared_ptr<client_core> core_;
    const queue_markers markers_;

    // The last participant that was granted; none before the first.
    std::string own_;
    std::uint32_t number_ = 0;
    std::int64_t czxid_ = 0;
    std::uint64_t connection_ = 0;
    bool is_gone_ = false;

    std::uint32_t in_a_row_ = 0;  ///< grants alone whose numbers follow each other
    std::uint32_t needed_;        ///< so many, before a number is to prove anything

    /// The connection with a watch on the directory that `own_` was created in; 0: none.
    std::uint64_t watched_on_ = 0;
};

}  // namespace latchkey::inline v0
