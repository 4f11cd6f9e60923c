#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/failure.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey::inline v0 {

/// A write of a znode's data, guarded by the writer's own ephemeral znode: `multi[check(own),
/// set(path, text, version)]`.
struct guarded_write {
    /// Says whether data that was read may be replaced. A failure ends the write as `refused`.
    using replaceable = failure (*)(std::string_view path, std::string_view data);

    std::string own;
    std::string path;
    std::function<std::string(std::int32_t version)> text;  ///< of the version that it makes
    /// That of the data that may be replaced, if it was read already; otherwise it is read first.
    std::optional<std::int32_t> version = std::nullopt;
    replaceable may_replace = nullptr;  ///< none: any data may be replaced

    // ---- how far it has come ----

    bool sent = false;
    bool in_flight = false;
    bool last_try = false;  ///< set by the owner: nothing is sent after the try in flight
};

/// That of the data after a write, as the servers count.
[[nodiscard]] constexpr std::int32_t next_version(std::int32_t version) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(version) + 1);
}

/// How it ended.
struct guarded_written {
    enum class kind : std::uint8_t {
        unknown,  ///< the session or the last try ended; it may have been written, if it was sent
        written,  ///< `stat` is that of the path right after the write
        gone,     ///< not written now: the own znode or the one at `path` is gone; see `in_doubt`
        refused,  ///< not written; `why` says why
    };

    kind what = kind::unknown;
    failure why = {};
    server_stat stat = {};
    /// The answer to an earlier try was lost: the text may have been written, and replaced since.
    bool in_doubt = false;
};

/// The write is applied at most once, whatever is lost. It replaces one version of the data and no
/// other, so a write that was thought lost and arrives late is refused. If the outcome is unknown,
/// the data is read to find it out. On the loop only, for one session; while disconnected, with the
/// next connection. `core` and `w` outlive the task.
[[nodiscard]] task<guarded_written> write_guarded(client_core& core, guarded_write& w);

}  // namespace latchkey::inline v0
