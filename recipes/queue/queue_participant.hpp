#pragma once

#include <latchkey/hold.hpp>
#include <latchkey/participant.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "client/hold_state.hpp"
#include "loop/paced_retry.hpp"
#include "queue/grant_step.hpp"
#include "queue/protected_create.hpp"
#include "queue/queue_entry.hpp"
#include "queue/queue_recipe.hpp"
#include "znode/znode_swap.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// One participant: joins a queue, waits for its predecessor only, holds, leaves; or several of
/// them, one in each of several queues, that join together, hold together and leave together. On
/// the loop only.
///
/// An attempt lives in one session: nothing is granted across a change of session, and after a loss
/// the next attempt joins at the tail. What was created is deleted surely once it does not hold,
/// also after the owner has forgotten the queue_participant.
class queue_participant final : public session_listener,
                                public hold_owner,
                                public std::enable_shared_from_this<queue_participant>,
                                queue_entry::owner,
                                grant_step::owner {
public:
    struct settings {
        std::shared_ptr<const queue_recipe> as;
        bool directory_known = false;
        bool only_if_first = false;           ///< reads first, and gives up when somebody is ahead
        std::function<void(place)> reserved;  ///< on the loop
        std::function<void()> released;  ///< the hold was released and its delete sent; on the loop
        std::function<void()> lost = nullptr;  ///< once, the hold that was granted; on the loop
        /// The place that was reserved, if any was, is lost, and another one is looked for.
        std::function<void()> begins = nullptr;
    };

    /// A hold, or nothing (cancelled, or somebody is ahead), or a failure.
    struct outcome {
        failure why;
        hold granted;
    };

    queue_participant(std::shared_ptr<client_core> core,
                      settings s,
                      std::function<void(outcome)> done);

    void start();

    /// Gives up, unless granted already. `done` is called when the znodes are gone, or after a
    /// second at most.
    void cancel();

    /// While it waits: leaves its place for one right behind that of `leader`, a name in the same
    /// directory and ahead of it, if `invitation` holds and the leader is there still; ahead of all
    /// others, in one transaction. `done` hears the path of the new place, empty if there is none;
    /// nothing if the session ends before.
    void move_behind(const std::string& leader,
                     request invitation,
                     std::function<void(const std::string&)> done);

    // hold_owner
    void release(std::function<void()> gone) override;
    bool watch() override;
    void convert(lock_mode to, bool wait, converted done) override;
    void cancel_conversion() override;

private:
    enum class state : std::uint8_t {
        unconnected,  ///< the attempt begins with the next connection
        looking,      ///< lists are in flight, and nothing was created
        joining,      ///< a protected create is under way
        queued,       ///< the znodes are there and wait for their turn
        moving,       ///< ... and it is not known in which of two places
        admitting,    ///< it is the first, and takes permits, or becomes the leader
        held,
        left,
    };

    void session_connected() override;
    void session_suspended() override;
    void session_ended(loss why) override;
    void validity_passed() override;
    void znode_missing(const std::string& path) override;
    void client_closed(const failure& why) override;

    // queue_entry::owner
    void on_listing() override;
    void on_listed(const queue_entry& z, const listing& l) override;
    bool on_placed(queue_entry& z, const queue_verdict& v) override;
    void on_turn(queue_entry& z) override;
    void on_gone(queue_entry& z) override;
    void on_revocation() override;

    // admission::owner
    void on_waiting() override;
    void on_admitted(grant_step::grant g) override;

    void on_full() override { leave({}); }

    void on_gone() override { on_gone(*znodes_.front()); }

    // both
    void on_refused(failure why) override;

    using lists = std::vector<directory_lists::answer>;

    void begin_attempt();
    void lose_place();
    void start_attempt();
    void look();
    void on_looked(const lists& all);
    void join_unless_blocked(const lists& all);
    void join();
    void on_joined(protected_create::joined j);
    void on_moved(znode_swap::result r, const std::string& to);
    [[nodiscard]] queue_rule rule() const noexcept;
    void queue(const protected_create::joined& j);
    void wait_in_all();
    void admit();
    void grant(bool look_for_them);
    void identify(bool look_for_them);
    void confirm(bool look_for_them);
    void publish();
    void watch_soon();
    void become_shared();
    void become_exclusive();
    void on_exchanged(znode_swap::result r, const std::string& name, failure why);
    void drop_exchange();
    void end_conversion(failure why, bool done);
    void lose(loss why);
    void step_down(loss why);
    void give_up(outcome o);
    void leave(outcome o);
    void finish(outcome o);
    void enter(state s);
    void set_znodes(const std::vector<std::string>& paths);
    [[nodiscard]] std::vector<std::string> paths() const;
    void delete_strays(const std::string& own, const listing& l);
    void stop_waiting();
    void stop_watching();

    /// Wraps a completion so that it is dropped when the queue_participant has moved on meanwhile.
    template <class F>
    auto here(F f) {
        return [self = shared_from_this(), step = step_, f = std::move(f)](const auto& answer) {
            if (step == self->step_) {
                f(answer);
            }
        };
    }

    const std::shared_ptr<client_core> core_;
    settings settings_;
    std::function<void(outcome)> done_;

    state state_ = state::unconnected;
    std::uint64_t step_ = 0;            ///< answers to an earlier step are dropped
    std::optional<outcome> giving_up_;  ///< set while the own znodes have to be found first

    std::shared_ptr<protected_create> create_;  ///< while joining
    std::shared_ptr<grant_step> admission_;     ///< from joining until admitted
    bool first_since_joining_ = false;
    bool behind_twin_ = false;                    ///< a leader has let it in right behind itself
    std::shared_ptr<quorum_check> confirmation_;  ///< once admitted, or identified
    std::string prefix_;  ///< what the names that this attempt created begin with
    /// One a directory, while they exist as far as we know.
    std::vector<std::unique_ptr<queue_entry>> znodes_;
    std::int64_t zxid_ = 0;  ///< of the creation, or as good as that; 0 if not known

    bool asked_back_ = false;
    std::weak_ptr<hold_state> granted_;
    converted converted_;  ///< while a conversion is under way
    bool conversion_waits_ = false;
    std::shared_ptr<znode_swap> exchange_;      ///< while it is not known which znode is ours
    std::function<void()> released_meanwhile_;  ///< ... and the hold was released
    timer timer_;
    timer farewell_;
    loop::clock::time_point farewell_ends_;
    paced_retry retry_;
};

}  // namespace latchkey
