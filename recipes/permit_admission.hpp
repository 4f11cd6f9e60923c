#pragma once

#include "backoff.hpp"
#include "client_core.hpp"
#include "failure.hpp"
#include "participation.hpp"
#include "znode_exchange.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// Waits, at the head of a semaphore's queue, until enough permits are free, and takes them. On the
/// loop only, in one session; ends, without another call, when it is destroyed.
///
/// Only heads take permits, and in the same transaction leave the queue. So the view of a new head
/// holds all that were taken before: one that is out of date can only count too many.
class permit_admission : public std::enable_shared_from_this<permit_admission> {
public:
    /// Who waits; may destroy the admission in any of these, which end it, but for on_waiting().
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        virtual void on_waiting() = 0;
        /// The permits are these znodes'; the place in the queue is given up.
        virtual void on_admitted(const std::vector<std::string>& paths) = 0;
        /// Not enough are free, and waiting was not wanted.
        virtual void on_full() = 0;
        virtual void on_gone() = 0;
        virtual void on_refused(failure why) = 0;

    protected:
        ~owner() = default;
    };

    /// `prefix`: what the names of this attempt begin with.
    permit_admission(std::shared_ptr<client_core> core,
                     std::shared_ptr<const participation> as,
                     const std::string& prefix,
                     owner& o);
    ~permit_admission();

    /// Asks what is free, for begin() to use: sent right behind what tells that we are the first,
    /// it costs no round trip; and again behind whatever takes its place. Refuses what can never
    /// fit.
    void look_ahead();

    /// The participant at `place` is the first in the queue, and was so already when it looked
    /// ahead, if `first_since`.
    void begin(std::string place, bool first_since, bool wait);

    /// There is a connection again.
    void session_connected();

    /// Whether it is not known which znodes are ours: the place, or the permits.
    [[nodiscard]] bool taking() const noexcept { return exchange_ != nullptr; }

    [[nodiscard]] const std::vector<std::string>& permits() const noexcept { return permits_; }

private:
    void look(bool watch);
    [[nodiscard]] bool looked() const noexcept;
    [[nodiscard]] std::optional<std::uint32_t> limit() const;
    [[nodiscard]] std::uint64_t taken() const noexcept;
    [[nodiscard]] failure refusal() const;
    void on_looked();
    void decide();
    void take();
    void on_taken(znode_exchange::result r, failure why);

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const participation> as_;
    const std::vector<std::string> permits_;  ///< the paths of the znodes to be
    owner* const owner_;

    std::string place_;  ///< once it is ours to take permits
    bool wait_ = true;
    std::uint64_t step_ = 0;      ///< answers to an earlier look are dropped
    std::optional<reply> limit_;  ///< if it is stored
    std::optional<reply> taken_;
    std::shared_ptr<session::watcher> watcher_;
    std::shared_ptr<znode_exchange> exchange_;
    timer retry_;
    backoff backoff_{std::chrono::milliseconds(10), std::chrono::seconds(1)};
};

}  // namespace latchkey
