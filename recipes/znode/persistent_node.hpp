#pragma once

#include <latchkey/acl.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "loop/paced_retry.hpp"
#include "znode/znode_watch.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Keeps one ephemeral znode of a given name, session after session, until it leaves. Used on the
/// loop only, unless noted. The core keeps it alive until then.
class persistent_node final : public session_listener,
                              public std::enable_shared_from_this<persistent_node>,
                              znode_watch::observer {
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
    void leave();
    void set_data(std::string data);

    /// Any thread.
    [[nodiscard]] bool here() const noexcept {
        return here_.load() && session_.load() == core_->session_id();
    }

    [[nodiscard]] const std::string& path() const noexcept { return settings_.path; }

    /// Whether another session was seen to have the znode.
    [[nodiscard]] bool was_taken() const noexcept { return taken_; }

    /// Throws errc::invalid_argument for more data than a create can have. Any thread.
    void check_data(const std::string& data) const;

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

private:
    void session_connected() override;
    void session_ended(loss_reason) override;

    void client_closed(const failure& why) override;

    // On the own znode, or on the one that has its name.
    void on_watch_set(const server_stat& stat, const std::string& data) override;
    void on_znode_deleted() override;
    void on_watch_refused(result_code code) override;

    void create();
    void on_created(result_code code, bool before);
    void watch();
    void entered();
    void write_data();
    void on_written(result_code code);
    void report(const char* what, result_code code);
    void retry();
    void try_later();
    void tell(failure why, bool entered);
    void end(bool there = false);

    const std::shared_ptr<client_core> core_;
    settings settings_;
    told first_;
    std::shared_ptr<znode_watch> watch_;
    paced_retry retry_;
    std::uint64_t step_ = 0;
    bool directory_known_ = false;
    bool sent_ = false;      ///< in this session the znode was created, or may have been
    bool in_doubt_ = false;  ///< the answer to a create of this session was lost
    bool leaving_ = false;   ///< it must find out first whether the znode is its own
    bool taken_ = false;
    bool reported_ = false;  ///< the present refusal was reported
    bool ended_ = false;
    std::atomic<bool> here_ = false;
    std::atomic<std::int64_t> session_{0};
};

}  // namespace latchkey::inline v0
