#pragma once

#include "client/failure.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// What the first in a queue has to do on the servers before it holds: take permits, or become the
/// leader. On the loop only, in one session; ends, without another call, when it is destroyed.
class grant_step {
public:
    /// A leader's record, as far as a grant has to do with it.
    struct record_seen {
        std::int32_t version = 0;  ///< of the data that is there
        bool written = false;      ///< and it tells of this grant
        std::string unclean = {};  ///< who has not given up before it: leader_record
    };

    struct grant {
        std::vector<std::string> paths;  ///< of the znodes that are held from now on
        bool found = false;              ///< they were there already: one may be gone since
        std::int64_t zxid = 0;           ///< the token; 0: that of the place in the queue
        std::optional<record_seen> record = std::nullopt;
    };

    /// Who waits; may destroy the admission in any of these, which end it, but for on_waiting().
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        virtual void on_waiting() = 0;
        virtual void on_admitted(grant g) = 0;
        /// Not now, and waiting was not wanted.
        virtual void on_full() = 0;
        /// The place in the queue is not there any more.
        virtual void on_gone() = 0;
        virtual void on_refused(failure why) = 0;

    protected:
        ~owner() = default;
    };

    /// The first in the queue.
    struct place {
        std::string path;
        std::int64_t zxid = 0;     ///< of its creation, or as good as that; 0 if not known
        bool first_since = false;  ///< it was the first when it joined already
        bool wait = true;          ///< if it cannot hold at once
    };

    grant_step() = default;
    grant_step(const grant_step&) = delete;
    grant_step& operator=(const grant_step&) = delete;
    virtual ~grant_step() = default;

    /// Asks what begin() has to know: sent right behind the list that tells that we are the first,
    /// it costs no round trip.
    virtual void look_ahead() = 0;

    /// Whether that is sent behind each such list, and not behind the create's alone.
    [[nodiscard]] virtual bool looks_behind_each_list() const noexcept { return false; }

    virtual void begin(place p) = 0;

    /// There is a connection again.
    virtual void session_connected() = 0;

    /// Znodes that may be ours besides the place in the queue, or instead of it.
    [[nodiscard]] virtual std::vector<std::string> in_doubt() const { return {}; }
};

}  // namespace latchkey
