#pragma once

#include <latchkey/leader_selector.hpp>

#include "acquirer.hpp"
#include "backoff.hpp"
#include "client_core.hpp"
#include "leader_term.hpp"
#include "monitor.hpp"
#include "participation.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <boost/thread/thread_only.hpp>

namespace latchkey {

/// One loop on one thread, from start() to the end: candidate, term, candidate. Nothing else
/// decides what comes next; others only ask.
class leader_campaign final : public session_user,
                              public std::enable_shared_from_this<leader_campaign> {
public:
    using state = leader_selector::state;

    leader_campaign(const std::shared_ptr<client_core>& core,
                    participation as,
                    leader_terms who,
                    leader_selector::work fn,
                    leader_selector::behaviour how)
        : acquire_(core, local_queue::admits::one_at_a_time),
          as_(std::make_shared<const participation>(std::move(as))),
          who_(std::move(who)),
          fn_(std::move(fn)),
          how_(std::move(how)) {}

    leader_campaign(const leader_campaign&) = delete;
    leader_campaign& operator=(const leader_campaign&) = delete;

    ~leader_campaign() override {
        if (thread_.joinable()) {
            thread_.detach();  // nobody could wait for it; it is about to end
        }
    }

    void start();
    void interrupt() noexcept;
    void close() noexcept;

    [[nodiscard]] state present() const {
        const monitor_lock lock(guard_);
        return state_;
    }

    [[nodiscard]] latchkey::leadership leadership() const {
        const monitor_lock lock(guard_);
        return leader_term::handle(term_);
    }

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept {
        return acquire_.core();
    }

    [[nodiscard]] const std::string& path() const noexcept { return as_->directory; }

    [[nodiscard]] const std::string& id() const noexcept { return who_.id; }

private:
    // session_user
    void session_connected() override {}

    void session_suspended() override;

    void session_ended(loss) override {}

    void validity_passed() override {}

    void znode_missing(const std::string&) override {}

    void client_closed(const failure&) override;

    // the thread
    void run();
    [[nodiscard]] bool wait_until_wanted();
    [[nodiscard]] bool campaign();
    void lead(hold granted);
    void end_term(const std::shared_ptr<leader_term>& term);
    [[nodiscard]] bool survives(const std::exception_ptr& what);
    void report(const std::exception_ptr& what) noexcept;
    void pause();

    const acquirer acquire_;
    const std::shared_ptr<const participation> as_;
    const leader_terms who_;
    const leader_selector::work fn_;
    const leader_selector::behaviour how_;
    backoff pauses_{std::chrono::milliseconds(100), longest_pause};

    static constexpr std::chrono::seconds longest_pause{30};

    mutable boost::mutex guard_;
    boost::condition_variable changed_;
    state state_ LATCHKEY_GUARDED_BY(guard_) = state::idle;
    bool wanted_ LATCHKEY_GUARDED_BY(guard_) = false;  ///< to be a candidate when idle
    bool over_ LATCHKEY_GUARDED_BY(guard_) = false;    ///< the client is closed
    std::shared_ptr<leader_term> term_ LATCHKEY_GUARDED_BY(guard_);
    std::stop_source stop_ LATCHKEY_GUARDED_BY(guard_){std::nostopstate};  ///< of the term
    bool started_ LATCHKEY_GUARDED_BY(guard_) = false;
    boost::thread thread_ LATCHKEY_GUARDED_BY(guard_);
    boost::thread::id runs_on_ LATCHKEY_GUARDED_BY(guard_);
    std::stop_source closing_;
};

}  // namespace latchkey
