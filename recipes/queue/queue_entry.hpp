#pragma once

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"
#include "queue/participant_record.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/turn.hpp"
#include "znode/znode_watch.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace latchkey {

/// One znode of a queue_participant in one queue: its watch, and its wait until it is the first. On
/// the loop only, in one session; ends, without another call, when it is destroyed.
class queue_entry final : turn::owner, znode_watch::observer {
public:
    /// The queue_participant; outlives it, and may destroy it in any of these.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        /// A list was asked for that may tell that it is the first: answers to what is asked now
        /// come after it.
        virtual void on_listing() = 0;
        virtual void on_listed(const queue_entry& z, const listing& l) = 0;
        /// Who is ahead of it; false ends the wait.
        virtual bool on_placed(queue_entry& z, const queue_verdict& v) = 0;
        virtual void on_turn(queue_entry& z) = 0;
        /// It is not there any more.
        virtual void on_gone(queue_entry& z) = 0;
        /// Somebody asks for it back. Told of each of its watches that finds the request.
        virtual void on_revocation() = 0;
        virtual void on_refused(failure why) = 0;

    protected:
        ~owner() = default;
    };

    queue_entry(std::shared_ptr<client_core> core, std::string path, owner& o)
        : core_(std::move(core)),
          path_(std::move(path)),
          owner_(&o),
          retry_(core_->loop(), std::chrono::seconds(5)) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Of its creation, if it was watched; else 0.
    [[nodiscard]] std::int64_t czxid() const noexcept { return czxid_; }

    /// Waits until it is the first. `ignored`: a prefix of names that do not count.
    void wait(const std::shared_ptr<const queue_recipe>& as,
              const std::string& ignored,
              queue_rule rule);

    [[nodiscard]] bool waits() const noexcept { return turn_ != nullptr; }

    /// Decides from a list that is at hand; or begins with one, or goes on with a new connection.
    /// While it waits only.
    void judge(const listing& l) { turn_->judge(l); }

    void resume() { turn_->resume(); }

    void stop_waiting() { turn_.reset(); }

    void watch() { own_watch().arm(); }

    /// If it was to be watched, and is not yet.
    void watch_again_if_not();

    [[nodiscard]] bool watched() const noexcept { return watch_ != nullptr && watch_->armed(); }

    void stop_watching() { watch_.reset(); }

    /// Its watch was to be set, and is not: it may have gone meanwhile.
    [[nodiscard]] bool is_doubtful() const noexcept {
        return watch_ != nullptr && !watch_->armed() && !unreadable_;
    }

    /// Whether its place was told to who asked for that.
    [[nodiscard]] bool place_told() const noexcept { return place_told_; }

    void set_place_told() noexcept { place_told_ = true; }

private:
    // turn::owner
    znode_watch& own_watch() override;

    void on_listing() override { owner_->on_listing(); }

    void on_listed(const listing& l) override { owner_->on_listed(*this, l); }

    bool on_placed(const queue_verdict& v) override { return owner_->on_placed(*this, v); }

    void on_turn() override { owner_->on_turn(*this); }

    void on_gone() override { owner_->on_gone(*this); }

    void on_refused(failure why) override { owner_->on_refused(std::move(why)); }

    // znode_watch::observer
    void on_watch_set(const znode_stat& stat, const std::string& data) override {
        czxid_ = stat.czxid;
        if (data == revocation_request) {
            owner_->on_revocation();
        }
    }

    void on_znode_deleted() override { owner_->on_gone(*this); }

    void on_watch_refused(result_code code) override;

    const std::shared_ptr<client_core> core_;
    const std::string path_;
    owner* const owner_;
    std::int64_t czxid_ = 0;
    std::shared_ptr<turn> turn_;
    std::shared_ptr<znode_watch> watch_;
    paced_retry retry_;
    bool place_told_ = false;
    bool unreadable_ = false;  ///< it was there, and cannot be watched
};

}  // namespace latchkey
