#pragma once

#include <latchkey/group.hpp>

#include "backoff.hpp"
#include "client_core.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/thread/recursive_mutex.hpp>

namespace latchkey {

/// Follows who is in a group: the names with a watch on the directory, each member's data with
/// a watch on its znode, and nothing that is known is read again. On the loop only, but for
/// what says otherwise; kept alive by the core until it ends.
class roster final : public session_user, public std::enable_shared_from_this<roster> {
public:
    roster(std::shared_ptr<client_core> core,
           std::string directory,
           std::chrono::nanoseconds pause,
           group::members_listener listener);

    void start();

    /// Any thread: the listener is not running when it returns, and will not run, unless it calls
    /// this itself.
    void end() noexcept;

    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

private:
    struct entry {
        std::optional<member> known;
        std::shared_ptr<session::watcher> watcher;
    };

    void session_connected() override;
    void session_ended(loss) override;

    void validity_passed() override {}

    void znode_missing(const std::string&) override {}

    void client_closed(const failure&) override;

    void list();
    void on_listed(const reply& r);
    void read(const std::string& name);
    void on_read(const std::string& name, const reply& r);
    void list_again();
    void list_later(std::chrono::nanoseconds after);
    void tell();
    void call_listener(const std::vector<member>& now);

    const std::shared_ptr<client_core> core_;
    const std::string directory_;
    const std::chrono::nanoseconds pause_;
    const group::members_listener listener_;
    boost::recursive_mutex calling_;
    bool over_ = false;  ///< guarded by calling_

    std::map<std::string, entry> entries_;
    std::shared_ptr<session::watcher> watcher_;
    bool listed_ = false;
    std::optional<std::vector<member>> told_;
    timer again_;
    backoff backoff_{std::chrono::milliseconds(10), std::chrono::seconds(1)};
};

}  // namespace latchkey
