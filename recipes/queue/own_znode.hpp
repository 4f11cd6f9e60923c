#pragma once

#include "client/client_core.hpp"
#include "loop/paced_retry.hpp"
#include "queue/participant_record.hpp"
#include "znode/znode_watch.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// One znode of a participant in one queue, and the watch on it. On the loop only, in one session;
/// ends, without another call, when it is destroyed.
class own_znode final : public znode_watch, znode_watch::observer {
public:
    /// The participant; outlives the znode, or destroys it, also in one of these calls.
    class owner {
    public:
        owner() = default;
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;

        /// The znode no longer exists.
        virtual void on_gone(own_znode& z) = 0;
        /// Another participant asks for the lock. Called for each watch that finds the request.
        virtual void on_revocation() = 0;

    protected:
        ~owner() = default;
    };

    own_znode(client_core& core, std::string path, owner& o)
        : znode_watch(core, std::move(path), static_cast<znode_watch::observer&>(*this)),
          owner_(&o) {}

    /// The attempt has been granted: its znodes are held.
    void belongs_to(owner& o) noexcept { owner_ = &o; }

    /// Of its creation, if it was watched; else 0.
    [[nodiscard]] std::int64_t czxid() const noexcept { return czxid_; }

    void watch();

    /// Sets the watch again, if there was to be one and there is none.
    void watch_again_if_not();

    [[nodiscard]] bool watched() const noexcept { return armed(); }

    void stop_watching() {
        wanted_ = false;
        disarm();
    }

    /// Its watch was to be set, and is not: it may have gone meanwhile.
    [[nodiscard]] bool is_doubtful() const noexcept { return wanted_ && !armed() && !unreadable_; }

private:
    // znode_watch::observer
    void on_watch_set(const server_stat& stat, const std::string& data) override {
        czxid_ = stat.czxid;
        if (data == revocation_request) {
            owner_->on_revocation();
        }
    }

    void on_znode_deleted() override { owner_->on_gone(*this); }

    void on_watch_refused(result_code code) override;

    owner* owner_;
    std::int64_t czxid_ = 0;
    std::unique_ptr<paced_retry> retry_;  ///< of the watch, once it was refused
    bool wanted_ = false;                 ///< the watch is
    bool unreadable_ = false;             ///< it was there, and cannot be watched
};

}  // namespace latchkey::inline v0
