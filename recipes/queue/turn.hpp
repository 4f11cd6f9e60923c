#pragma once

#include <latchkey/participant.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"
#include "queue/queue_list_of.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/quorum_check.hpp"
#include "text/path.hpp"
#include "znode/znode_watch.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace latchkey {

/// What is told of a queue in which nobody can be granted: `v` is `exhausted` or `malformed`.
[[nodiscard]] failure refusal_of(const queue_verdict& v, const std::string& directory);

/// Waits until one znode in a queue is the first, within one session. On the loop only; ends,
/// without another call, when it is destroyed.
///
/// Contended it takes one round trip to set both watches, on the predecessor and on the own znode,
/// then nothing until the predecessor goes. If that was the only one ahead, its deletion is the
/// grant: no list. Not for leaders, whose turn comes by a list, and is proven by what they write
/// then.
class turn final : public std::enable_shared_from_this<turn>, znode_watch::observer {
public:
    /// Whose turn it is to be; outlives the turn, and may destroy it in any of these. The last
    /// three end the wait.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        /// The own znode's, made when first asked for.
        virtual znode_watch& own_watch() = 0;
        /// A list was asked for that may tell that it is our turn: answers to what is asked now
        /// come after it.
        virtual void on_listing() = 0;
        virtual void on_listed(const listing& l) = 0;
        /// Who is ahead; false ends the wait.
        virtual bool on_placed(const queue_verdict& v) = 0;
        virtual void on_turn() = 0;
        /// The own znode is not there any more.
        virtual void on_gone() = 0;
        virtual void on_refused(failure why) = 0;

    protected:
        ~owner() = default;
    };

    /// `own` is the znode's path; `ignored` a prefix of names that do not count: what the own
    /// attempt created.
    turn(std::shared_ptr<client_core> core,
         std::shared_ptr<const queue_recipe> as,
         std::string own,
         std::string ignored,
         queue_rule rule,
         owner& o);
    ~turn();

    /// Decides from a list that is at hand.
    void judge(const listing& l);

    /// Begins with a list, or goes on where another connection has ended: who was the nearest ahead
    /// still is, while it is there, because numbers grow. Two reads tell whether it is, and whether
    /// we are; a list is needed only if it is not.
    void resume();

private:
    // znode_watch::observer, of the predecessor
    void on_watch_set(const znode_stat& stat, const std::string& data) override;
    void on_znode_deleted() override;
    void on_watch_refused(result_code code) override;

    void list();
    void watch_predecessor();
    void confirm();
    void retry(result_code code, void (turn::*step)());

    [[nodiscard]] std::string directory() const { return std::string(parent_of(own_)); }

    [[nodiscard]] std::string path_of(const std::string& name) const;

    /// Wraps a completion so that it is dropped when the turn has moved on or is gone.
    template <class F>
    auto here(F f) {
        return [weak = weak_from_this(), step = step_, f = std::move(f)](const auto&... answer) {
            const auto self = weak.lock();
            if (self && step == self->step_) {
                f(answer...);
            }
        };
    }

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const std::string own_;  ///< its path
    const std::string ignored_;
    const queue_rule rule_;
    owner* const owner_;

    std::uint64_t step_ = 0;  ///< answers to an earlier step are dropped
    queue_verdict verdict_;
    /// While it waits for somebody: from the list that the verdict is from.
    std::shared_ptr<znode_watch> predecessor_;
    std::shared_ptr<quorum_check> confirmation_;  ///< while first, and not yet believed
    paced_retry retry_;
};

}  // namespace latchkey
