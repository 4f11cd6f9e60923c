#pragma once

#include <latchkey/acl.hpp>

#include "client/client_core.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"
#include "session/failure.hpp"
#include "znode/change_watch.hpp"
#include "znode/session_task.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Keeps one ephemeral znode of a given name, session after session, until it leaves. Used on the
/// loop only, unless noted. The core keeps it alive until then.
class persistent_node final : public session_task {
public:
    struct settings {
        std::string path;
        std::string data;
        acl access;
        bool only_if_free = false;  ///< ends if another session has the name
        /// If set, other clients may write the data of the znode. Receives each version that is
        /// seen, some more than once. If not set, data that differs is written over.
        std::function<void(const server_stat&, const std::string& data)> received = nullptr;
    };

    /// Called once: joined; or not, because the name is not free; or with the error that makes it
    /// impossible.
    using told = std::function<void(failure, bool entered)>;

    persistent_node(std::shared_ptr<client_core> core, settings s);

    void start(told first);

    /// The caller keeps it alive until this returns.
    void leave();

    void set_data(std::string data);

    /// Whether the znode is made again, too, if another client has deleted it.
    void make_again(bool wanted) noexcept { makes_again_ = wanted; }

    /// Any thread.
    [[nodiscard]] bool here() const noexcept {
        return here_.load() && session_.load() == core_->session_id();
    }

    [[nodiscard]] const std::string& path() const noexcept { return settings_.path; }

    /// Whether another session was seen to have the znode.
    [[nodiscard]] bool was_taken() const noexcept { return taken_; }

    /// Throws errc::invalid_argument for more data than a create can have. Any thread.
    void check_data(const std::string& data) const;

private:
    struct looked {
        failure why = {};      ///< it can never enter
        bool refused = false;  ///< the create was
        reply znode = {};

        [[nodiscard]] bool is_ours(const client_core& core) const noexcept {
            return znode.ok() && znode.stat.ephemeral_owner == core.session_id();
        }
    };

    void session_ended(loss_reason) override;
    void client_closed(const failure& why) override;

    void begin();
    [[nodiscard]] task<failure> keep();
    [[nodiscard]] task<looked> look(change_watch watch, bool creates);
    [[nodiscard]] task<bool> until_news(change_watch watch, bool is_ours, bool refused);
    void enter(const reply& seen);
    void report(const char* what, result_code code);
    void notify(failure why, bool entered);
    void end();

    settings settings_;
    told first_;
    paced_retry retry_;
    /// Of this session.
    std::shared_ptr<znode_creates> creates_ = std::make_shared<znode_creates>();
    resumption on_new_data_;
    bool written_ = false;  ///< the znode has the newest data, or is going to be looked at
    bool directory_known_ = false;
    directory_creation above_;
    bool taken_ = false;
    bool reported_ = false;  ///< the present refusal was reported
    bool makes_again_ = true;
    bool ended_ = false;
    std::atomic<bool> here_ = false;
    std::atomic<std::int64_t> session_{0};
};

}  // namespace latchkey::inline v0
