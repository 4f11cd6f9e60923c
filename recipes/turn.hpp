#pragma once

#include <latchkey/participant.hpp>

#include "backoff.hpp"
#include "client_core.hpp"
#include "failure.hpp"
#include "queue.hpp"
#include "znode_watch.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// Waits until one znode in a queue is the first, within one session. On the loop only; ends,
/// without another call, when it is destroyed.
///
/// Contended it takes one round trip to set both watches, on the predecessor and on the own znode,
/// then nothing until the predecessor goes. If that was the only one ahead, its deletion is the
/// grant: no list.
class turn : public std::enable_shared_from_this<turn> {
public:
    struct settings {
        std::string directory;
        std::string marker;
        std::string own;      ///< the znode's name
        std::string ignored;  ///< a prefix of names that do not count: what the own attempt created
    };

    /// The last three end the wait; the owner may destroy the turn in any.
    struct effects {
        std::function<znode_watch&()> own_watch;  ///< the own znode's, made when first asked for
        std::function<bool(const queue_verdict&)> placed;  ///< who is ahead; false ends the wait
        std::function<void(const std::vector<std::string>&)> listed;
        std::function<void()> granted;
        std::function<void()> gone;  ///< the own znode is not there any more
        std::function<void(failure)> refused;
    };

    turn(std::shared_ptr<client_core> core, const void* demander, settings s, effects e);
    ~turn();

    /// Decides from a list that is at hand.
    void judge(const std::vector<std::string>& names);

    /// Decides from a new list: of the first connection, or when what was seen may be out of date.
    void list();

    /// The own znode's watch was set.
    void own_watch_armed() { check_armed(); }

private:
    void watch_predecessor();
    void check_armed();
    void on_predecessor_gone();
    void confirm();
    void retry_list(result_code code);
    void fail(errc code, const char* problem);
    [[nodiscard]] std::string path_of(const std::string& name) const;

    /// Wraps a completion so that it is dropped when the turn has moved on or is gone.
    template <class F>
    session::completion here(F f) {
        return [weak = weak_from_this(), step = step_, f = std::move(f)](const reply& r) {
            const auto self = weak.lock();
            if (self && step == self->step_) {
                f(r);
            }
        };
    }

    const std::shared_ptr<client_core> core_;
    const void* const demander_;
    const settings settings_;
    const effects effects_;

    std::uint64_t step_ = 0;  ///< answers to an earlier step are dropped
    queue_verdict verdict_;
    std::shared_ptr<znode_watch> predecessor_;
    bool waiting_ = false;  ///< both watches were set on one connection, after the list that the
                            ///< verdict is from
    timer retry_;
    backoff backoff_{std::chrono::milliseconds(10), std::chrono::seconds(1)};
};

}  // namespace latchkey
