#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/failure.hpp"
#include "session/session.hpp"

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

class own_znode;

/// What the first in a queue has to do on the servers before it holds: take permits, or become the
/// leader. On the loop only, in one session.
class last_step {
public:
    /// The first in the queue.
    struct place {
        own_znode& znode;
        std::int64_t zxid = 0;     ///< of its creation, or as good as that; 0 if not known
        bool first_since = false;  ///< it was the first when it joined already
        bool wait = true;          ///< if it cannot hold at once
    };

    struct end {
        enum class kind : std::uint8_t {
            admitted,
            full,    ///< not now, and waiting was not wanted
            gone,    ///< the place in the queue is not there any more
            refused  ///< `why` says why
        };

        kind what = kind::refused;
        failure why = {};
        std::vector<std::string> paths = {};  ///< of the znodes that are held from now on
        bool found = false;                   ///< they were there already: one may be gone since
        std::int64_t zxid = 0;                ///< the token; 0: that of the place in the queue
        std::any seen = {};  ///< what the step has seen, for the object that publishes the grant
    };

    /// Whether look_ahead() is called behind each list that shows this participant to be the first,
    /// and not behind the create's alone.
    const bool looks_behind_each_list;

    explicit last_step(bool each_list) : looks_behind_each_list(each_list) {}

    last_step(const last_step&) = delete;
    last_step& operator=(const last_step&) = delete;
    virtual ~last_step() = default;

    /// Asks what take() has to know. It is sent right behind the list that shows that this
    /// participant is the first, so it costs no round trip.
    virtual void look_ahead() = 0;

    /// The step. Goes on with the next connection. The object outlives the task.
    [[nodiscard]] virtual task<end> take(place p) = 0;

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

    /// `recipe` has these terms; `prefix` is what the names of the attempt begin with. `refused` is
    /// called, perhaps ahead of the turn, with what will not change by waiting; it may destroy the
    /// step.
    [[nodiscard]] virtual std::unique_ptr<last_step> make_step(
        std::shared_ptr<client_core> core,
        std::shared_ptr<const queue_recipe> recipe,
        const std::string& prefix,
        std::function<void(failure)> refused) const = 0;

    /// Creates what has to exist before a participant can join: the queue's directory, unless
    /// overridden.
    [[nodiscard]] virtual directory_creation create_directories(client_core& core,
                                                                const queue_recipe& recipe) const;

protected:
    grant_terms(const grant_terms&) = default;
    grant_terms(grant_terms&&) = default;
    grant_terms& operator=(const grant_terms&) = default;
    grant_terms& operator=(grant_terms&&) = default;
};

}  // namespace latchkey::inline v0
