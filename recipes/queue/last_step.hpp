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

/// How a participant's step has ended: to wait, to take the recipe's last step, to change the mode,
/// or the attempt as a whole.
enum class step_end : std::uint8_t {
    done,
    gone,    ///< the place in the queue no longer exists
    refused  ///< by a failure; without one: others are ahead, and the caller will not wait
};

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
        /// Its predecessor has told it that it is the first, with this text.
        const std::string* told = nullptr;
    };

    struct end {
        step_end what = step_end::refused;
        failure why = {};
        /// Of the znodes that are held instead of the place in the queue; none: that is held.
        std::vector<std::string> new_paths = {};
        bool found = false;     ///< they were there already: one may be gone since
        std::int64_t zxid = 0;  ///< the token; 0: that of the place in the queue
        std::uint32_t turn = 0;
        std::any seen = {};  ///< what the step has seen, for the object that publishes the grant
    };

    /// Whether ask_early() is called behind each list that may show this participant to be the
    /// first, and not only behind the list of the create.
    const bool asks_behind_each_list;

    explicit last_step(bool each_list) : asks_behind_each_list(each_list) {}

    last_step(const last_step&) = delete;
    last_step& operator=(const last_step&) = delete;
    virtual ~last_step() = default;

    /// Asks the servers what take() has to know. The question is sent right behind the list that
    /// may show this participant to be the first, so it costs no round trip.
    virtual void ask_early() = 0;

    /// The step. Goes on with the next connection. The object outlives the task.
    [[nodiscard]] virtual task<end> take(place p) = 0;

    /// take() is just exchanging the place in the queue for other znodes.
    [[nodiscard]] virtual bool is_swapping() const { return false; }
};

struct queue_recipe;

/// Makes the last step of each attempt. Shared by all participants of a recipe object.
class last_step_maker {
public:
    last_step_maker() = default;
    virtual ~last_step_maker() = default;

    /// `recipe` refers to this object. `refused` is called, perhaps before take(), with a failure
    /// that will not change by waiting; it may destroy the step.
    [[nodiscard]] virtual std::unique_ptr<last_step> make_step(
        std::shared_ptr<client_core> core,
        std::shared_ptr<const queue_recipe> recipe,
        std::function<void(failure)> refused) const = 0;

    /// Creates what has to exist before a participant can join: the queue's directory, unless
    /// overridden.
    [[nodiscard]] virtual directory_creation create_directories(client_core& core,
                                                                const queue_recipe& recipe) const;

protected:
    last_step_maker(const last_step_maker&) = default;
    last_step_maker(last_step_maker&&) = default;
    last_step_maker& operator=(const last_step_maker&) = default;
    last_step_maker& operator=(last_step_maker&&) = default;
};

}  // namespace latchkey::inline v0
