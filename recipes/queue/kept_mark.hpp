#pragma once

#include "client/client_core.hpp"
#include "session/request.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Shows in the record of a holder's znode that no hold uses it: the client keeps the lock after
/// its release. For people who look at the queue. Nobody waits then, so the write takes no watch
/// from a participant of another library. It names the version that was read, so it never replaces
/// a request to give up the place.
///
/// Each change fires the watch on the own znode, which is read again. So a mark whose removal was
/// lost is found, and removed. On the loop only, in one session; ends, without another call, when
/// it is destroyed.
class kept_mark : public std::enable_shared_from_this<kept_mark> {
public:
    /// How long a lock is kept before that is shown: each mark is a write.
    static constexpr auto after = std::chrono::seconds(1);

    kept_mark(std::shared_ptr<client_core> core, std::string path)
        : core_(std::move(core)), path_(std::move(path)) {}

    /// The lock is kept, since `after`; or it is held from now on. Nothing is written if the data
    /// of the znode is not a record of Latchkey's.
    void show(bool kept);

    /// The znode was read.
    void on_read(const server_stat& stat, const std::string& data);

private:
    void read();
    void write();

    const std::shared_ptr<client_core> core_;
    const std::string path_;
    std::string record_;  ///< the data while it is held; empty: not known
    std::string mark_;    ///< the last that was written
    std::int32_t version_ = 0;
    bool kept_ = false;
    bool shown_ = false;  ///< the mark, as far as is known
    bool writing_ = false;
};

}  // namespace latchkey::inline v0
