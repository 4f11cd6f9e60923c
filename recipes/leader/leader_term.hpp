#pragma once

#include <latchkey/leadership.hpp>

#include "client/client_core.hpp"
#include "client/session_listener.hpp"
#include "hold/hold_state.hpp"
#include "leader/candidate_profile.hpp"
#include "leader/leader_record.hpp"
#include "loop/task.hpp"
#include "queue/last_step.hpp"
#include "session/failure.hpp"
#include "text/path.hpp"
#include "znode/guarded_write.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// One term of leadership: the hold, and the leader's record while it lasts. Shared by the
/// candidate, which makes and ends it, and by the user's handles. It never ends by itself.
class leader_term final : public session_listener,
                          public std::enable_shared_from_this<leader_term> {
public:
    /// `seen`: what the grant saw of the record; null: nothing.
    leader_term(std::shared_ptr<client_core> core,
                hold granted,
                const candidate_profile& profile,
                const record_seen* seen)
        : core_(std::move(core)),
          state_(hold_state::of(granted)),
          id_(profile.id),
          generation_(core_->generation()),
          unclean_(seen != nullptr ? seen->unclean : std::string()),
          held_(std::move(granted)),
          data_(profile.data),
          record_(seen != nullptr ? std::optional(*seen) : std::nullopt) {}

    [[nodiscard]] static leadership handle(std::shared_ptr<leader_term> term) noexcept {
        return leadership(std::move(term));
    }

    /// Null for an empty handle.
    [[nodiscard]] static std::shared_ptr<leader_term> of(const leadership& l) noexcept {
        return l.term_.get();
    }

    // ---- any thread ----

    [[nodiscard]] hold_state& state() const noexcept { return *state_; }

    [[nodiscard]] const std::string& id() const noexcept { return id_; }

    /// `done` is called on the loop.
    void proclaim(std::string data, std::function<void(failure)> done);

    // ---- on the loop ----

    /// Writes the record, unless the grant has written it.
    void publish();

    /// The first in the queue after this term: the name of the znode right behind the leader's.
    void set_successor(std::string name) { successor_ = std::move(name); }

    /// If a candidate has announced itself behind the leader, that one is the successor, and is
    /// told at the end of the term. Only if no other one can come between the two.
    void tell_the_next();

    /// The hold is lost or was given up: nothing is proclaimed any more.
    void close();

    /// Deletes the znode. If the leadership was given up, the same transaction writes that, and the
    /// successor, to the record. No call waits for it: the delete is repeated until it is
    /// confirmed.
    void leave();

private:
    struct proclamation {
        std::string data;
        std::function<void(failure)> done;
    };

    [[nodiscard]] std::string text_of(std::string data, std::int32_t version, bool clean) const;

    [[nodiscard]] std::string unwritten() const {
        return '"' + escaped(parent_of(state_->path())) + "\": nothing was written: ";
    }

    [[nodiscard]] failure over(bool sent) const;
    void begin_writing();
    [[nodiscard]] task<bool> write_all();
    void end_writing();
    void stop_writing(const failure& why);
    void answer_all(bool sent, const failure& why);
    [[nodiscard]] std::string announced_successor() const;
    void depart();

    // session_listener, while it writes
    void session_ended(loss_reason) override { stop_writing({}); }

    void client_closed(const failure& why) override { stop_writing(why); }

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<hold_state> state_;
    const std::string id_;
    const std::uint64_t generation_;  ///< of the session in which it began
    const std::string unclean_;       ///< the record's field `unclean`

    // On the loop only.
    hold held_;
    std::string data_;  ///< what was published last, or is to be published first
    std::string successor_;
    std::optional<record_seen> record_;
    std::deque<proclamation> proclamations_;  ///< the first one is being written
    std::optional<guarded_write> write_;      ///< of that one, while there is one
    running_task writing_;
    bool closed_ = false;
    bool tells_ = false;   ///< its successor, directly
    bool leaves_ = false;  ///< ends when the outcome of the last write is known
};

}  // namespace latchkey::inline v0
