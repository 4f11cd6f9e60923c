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

namespace latchkey {

/// Keeps one ephemeral znode of a given name there, session after session, until it leaves. On the
/// loop only, but for what says otherwise; kept alive by the core meanwhile.
class persistent_node final : public session_listener,
                              public std::enable_shared_from_this<persistent_node>,
                              znode_watch::observer {
public:
    struct settings {
        std::string path;
        std::string data;
        acl access;
        bool only_if_free = false;  ///< ends when somebody else has the name
        /// Others may write its data, and this is told of each version that is seen; more than once
        /// of some. Otherwise they have no say in it.
        std::function<void(const znode_stat&, const std::string& data)> received = nullptr;
    };

    /// Told once: entered; or not, because the name is not free; or that it never will be.
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

    /// Throws errc::invalid_argument for more data than its create can have. Any thread.
    void check_data(const std::string& data) const;

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

private:
    void session_connected() override;
    void session_ended(loss) override;

    void client_closed(const failure& why) override;

    // of the own znode, or of who has its name
    void on_watch_set(const znode_stat& stat, const std::string& data) override;
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
    bool leaving_ = false;   ///< it has to be found out first whether it is ours
    bool reported_ = false;  ///< what it may not do
    bool ended_ = false;
    std::atomic<bool> here_ = false;
    std::atomic<std::int64_t> session_{0};
};

}  // namespace latchkey
