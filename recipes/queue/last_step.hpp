#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// What the first in a queue has to do on the servers before it holds: take permits, or become the
/// leader. On the loop only, in one session; ends, without another call, when it is destroyed.
class last_step {
public:
    struct grant {
        std::vector<std::string> paths;  ///< of the znodes that are held from now on
        bool found = false;              ///< they were there already: one may be gone since
        std::int64_t zxid = 0;           ///< the token; 0: that of the place in the queue
    };

    /// The attempt that waits. It may destroy the step in each of these calls except on_waiting():
    /// they end the step.
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

    last_step() = default;
    last_step(const last_step&) = delete;
    last_step& operator=(const last_step&) = delete;
    virtual ~last_step() = default;

    /// Asks what begin() has to know. It is sent right behind the list that shows that this
    /// participant is the first, so it costs no round trip.
    virtual void look_ahead() = 0;

    /// Whether that is sent behind each such list, and not behind the create's alone.
    [[nodiscard]] virtual bool looks_behind_each_list() const noexcept { return false; }

    virtual void begin(place p) = 0;

    /// There is a connection again.
    virtual void session_connected() = 0;

    /// Znodes that may be ours besides the place in the queue, or instead of it.
    [[nodiscard]] virtual std::vector<std::string> in_doubt() const { return {}; }
};

struct queue_recipe;

/// What a recipe asks of the first in its queue before it holds. Shared by all participants of a
/// recipe object.
class grant_terms {
public:
    grant_terms() = default;
    virtual ~grant_terms() = default;

    /// `as` has these terms; `prefix` is what the names of the attempt begin with.
    [[nodiscard]] virtual std::unique_ptr<last_step> make_step(
        std::shared_ptr<client_core> core,
        std::shared_ptr<const queue_recipe> as,
        const std::string& prefix,
        last_step::owner& o) const = 0;

    /// Creates what has to exist before a participant can join: the queue's directory, unless
    /// overridden.
    [[nodiscard]] virtual directory_creation create_directories(client_core& core,
                                                                const queue_recipe& as) const;

protected:
    grant_terms(const grant_terms&) = default;
    grant_terms(grant_terms&&) = default;
    grant_terms& operator=(const grant_terms&) = default;
    grant_terms& operator=(grant_terms&&) = default;
};

}  // namespace latchkey::inline v0
