#pragma once

#include "client/client_core.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::inline v0 {

/// Watches one znode for its deletion: a `get` with a data watch, which is set again whenever the
/// data changes. Never `exists`: its watch on a znode that has gone would stay forever. Ends,
/// without another call, when it is destroyed or disarmed. On the loop only.
class znode_watch : public session::watcher, public std::enable_shared_from_this<znode_watch> {
public:
    /// The observer. It, and the client, outlive the watch.
    class observer {
    public:
        observer() = default;
        observer(const observer&) = delete;
        observer& operator=(const observer&) = delete;

        /// Called each time the watch is set: at first, and after a change of the data.
        virtual void on_watch_set(const server_stat& stat, const std::string& data) = 0;
        /// The watch fired, or the znode did not exist when the watch was to be set.
        virtual void on_znode_deleted() = 0;
        /// The watch could not be set for another reason.
        virtual void on_watch_refused(result_code code) = 0;

    protected:
        ~observer() = default;
    };

    znode_watch(client_core& core, std::string path, observer& o)
        : core_(&core), path_(std::move(path)), observer_(&o) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    void arm();

    /// No call follows, unless it is armed again.
    void disarm() noexcept {
        armed_on_ = 0;
        ++times_;
    }

    /// Whether it is set on the present connection. A watch ends with its connection.
    [[nodiscard]] bool armed() const noexcept {
        return armed_on_ != 0 && armed_on_ == core_->connection();
    }

    /// Whether an event reported the deletion, not a failed get.
    [[nodiscard]] bool saw_deletion() const noexcept { return saw_deletion_; }

protected:
    [[nodiscard]] client_core& core() const noexcept { return *core_; }

private:
    // session::watcher
    [[nodiscard]] bool is_on(std::string_view path) const noexcept override;

    void on_event(watch_event e) override;

    client_core* const core_;
    const std::string path_;
    observer* const observer_;
    std::uint64_t armed_on_ = 0;
    std::uint32_t times_ = 0;  ///< how often it was to be set
    bool saw_deletion_ = false;
};

}  // namespace latchkey::inline v0
