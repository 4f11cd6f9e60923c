#pragma once

#include "client/client_core.hpp"
#include "loop/paced_retry.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// One znode of a participant in one queue, and the watch on it: a `get` with a data watch, which
/// is set again whenever the data changes. On the loop only, in one session; ends, without another
/// call, when it is destroyed.
class own_znode final : public session::watcher, public std::enable_shared_from_this<own_znode> {
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
        : core_(&core), path_(std::move(path)), owner_(&o) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// The attempt has been granted: its znodes are held.
    void belongs_to(owner& o) noexcept { owner_ = &o; }

    /// Of its creation, if it was watched; else 0.
    [[nodiscard]] std::int64_t czxid() const noexcept { return czxid_; }

    /// Its place is reported: the first time?
    [[nodiscard]] bool note_place() noexcept { return !std::exchange(place_noted_, true); }

    void watch();

    /// Sets the watch again, if there was to be one and there is none.
    void watch_again_if_not();

    /// On the present connection: a watch ends with its own.
    [[nodiscard]] bool watched() const noexcept {
        return armed_on_ != 0 && armed_on_ == core_->connection();
    }

    /// No call follows, unless it is watched again.
    void stop_watching() {
        wanted_ = false;
        armed_on_ = 0;
        ++times_;
    }

    /// Its watch was to be set, and is not: it may have gone meanwhile.
    [[nodiscard]] bool is_doubtful() const noexcept {
        return wanted_ && !watched() && !unreadable_;
    }

private:
    // session::watcher
    [[nodiscard]] bool is_on(std::string_view path) const noexcept override;

    void on_event(watch_event e) override;

    void on_read(const reply& r);

    client_core* const core_;
    const std::string path_;
    owner* owner_;
    std::int64_t czxid_ = 0;
    std::unique_ptr<paced_retry> retry_;  ///< of the watch, once it was refused
    std::uint64_t armed_on_ = 0;          ///< the connection on which it is watched
    std::uint32_t times_ = 0;             ///< how often the watch was to be set
    bool wanted_ = false;                 ///< the watch is
    bool unreadable_ = false;             ///< it was there, and cannot be watched
    bool place_noted_ = false;
};

/// The znodes of a participant: one in each of its queues, and the records of its lock_delay. Not
/// copied: a copy would keep watches after the participant is gone.
struct own_znodes {
    own_znodes() = default;
    own_znodes(own_znodes&&) = default;
    own_znodes& operator=(own_znodes&&) = default;

    std::vector<std::shared_ptr<own_znode>> in_queues;
    std::vector<std::string> records = {};  ///< that may be there

    /// Of those in the queues.
    [[nodiscard]] std::vector<std::string> paths() const {
        std::vector<std::string> all;
        for (const auto& z : in_queues) {
            all.push_back(z->path());
        }
        return all;
    }

    [[nodiscard]] std::vector<std::string> paths_with_records() const {
        std::vector<std::string> all = paths();
        all.insert(all.end(), records.begin(), records.end());
        return all;
    }

    /// Null if none has this path.
    [[nodiscard]] own_znode* find(std::string_view path) const {
        const auto found = std::ranges::find(in_queues, path, &own_znode::path);
        return found == in_queues.end() ? nullptr : found->get();
    }
};

}  // namespace latchkey::inline v0
