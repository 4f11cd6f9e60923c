#pragma once

#include <latchkey/leadership.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "client/hold_state.hpp"
#include "leader/leader_record.hpp"
#include "queue/grant_step.hpp"
#include "znode/guarded_write.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace latchkey {

/// One term of leadership: the hold, and the leader's record while it lasts. Shared by who made it,
/// and ends it, and by the user's handles; it never ends by itself.
class leader_term : public std::enable_shared_from_this<leader_term> {
public:
    /// `data` is what is published; `record` what was seen of the record with the grant, if
    /// anything was.
    leader_term(hold granted, std::string id, std::string data, std::optional<record_seen> record);

    [[nodiscard]] static leadership handle(std::shared_ptr<leader_term> term) noexcept {
        return leadership(std::move(term));
    }

    /// Null for an empty handle.
    [[nodiscard]] static const std::shared_ptr<leader_term>& of(const leadership& l) noexcept {
        return l.term_;
    }

    // ---- any thread ----

    [[nodiscard]] hold_state& state() const noexcept { return *state_; }

    [[nodiscard]] const std::string& id() const noexcept { return id_; }

    /// `done` is told on the loop.
    void proclaim(std::string data, std::function<void(failure)> done);

    // ---- on the loop ----

    /// Writes the record, unless that was done with the grant.
    void publish();

    /// Who is the first when this term is over: the name of a znode right behind that of the
    /// leader.
    void set_successor(std::string name) { successor_ = std::move(name); }

    /// The hold is lost, or given up: nothing is proclaimed any more.
    void close();

    /// Deletes the znode; if the leadership was given up the record says that, and to whom, in the
    /// same transaction. Nobody waits for it: the delete is repeated until it is known.
    void leave();

private:
    struct proclamation {
        std::string data;
        std::function<void(failure)> done;
    };

    [[nodiscard]] std::string text_of(std::string data, bool clean) const;
    void write_next();
    void depart();
    void on_written(const guarded_write& w, failure why);

    const std::shared_ptr<hold_state> state_;
    const std::string id_;
    const std::uint64_t generation_;  ///< of the session that it began in
    const std::string unclean_;       ///< of the record: who has not given up before this term

    // On the loop only.
    hold held_;
    std::string data_;  ///< as it was published last, or is to be first
    std::string successor_;
    std::optional<record_seen> record_;
    std::deque<proclamation> proclamations_;  ///< the first is being written
    std::shared_ptr<guarded_write> write_;    ///< while one is
    bool closed_ = false;
    bool leaves_ = false;  ///< as soon as it is known what the last write came to
};

/// Throws errc::invalid_argument for what cannot be a leader's data.
void check_leader_data(const std::string& data);

}  // namespace latchkey
