#pragma once

#include "call/retrying_operation.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey {

/// Writes the data of a znode, guarded by the writer's own ephemeral znode: `multi[check(own),
/// set(path, text, version)]`.
///
/// The write is applied at most once, whatever is lost. It replaces one version of the data and no
/// other, so a write that was thought lost and arrives late is refused. If the outcome is unknown,
/// the data is read to find it out. Ends with the session.
class guarded_write final : public retrying_operation {
public:
    enum class outcome : std::uint8_t {
        unknown,  ///< ended by the session or a caller; it may have been written, if sent()
        written,  ///< stat() is that of the path right after the write
        gone,     ///< not written now: the own znode or the one at `path` is gone; see in_doubt()
        refused,  ///< not written; the result says why
    };

    /// Says whether data that was read may be replaced. A failure ends the write as `refused`.
    using replaceable = failure (*)(std::string_view path, std::string_view data);

    /// `version` is that of the data that may be replaced, if it was read already; otherwise it is
    /// read first. Without `may_replace`, any data may be replaced.
    guarded_write(std::shared_ptr<client_core> core,
                  std::string own,
                  std::string path,
                  std::string text,
                  std::optional<std::int32_t> version = std::nullopt,
                  replaceable may_replace = nullptr);

    /// Sends nothing more: ends with the answer to the request in flight. False if there is none.
    bool end_with_this_try() noexcept {
        last_try_ = in_flight_;
        return last_try_;
    }

    [[nodiscard]] outcome what() const noexcept { return what_; }

    [[nodiscard]] bool sent() const noexcept { return sent_; }

    /// The answer to an earlier try was lost: the text may have been written, and replaced since.
    [[nodiscard]] bool in_doubt() const noexcept { return in_doubt_; }

    [[nodiscard]] const znode_stat& stat() const noexcept { return stat_; }

private:
    void session_connected() override;
    void session_ended(loss) override;

    void look();
    void on_seen(const reply& r);
    void write();
    void on_written(const reply& r);
    void end(outcome what, failure why = {});
    void refuse(result_code code);

    const std::uint64_t generation_ = core()->generation();
    const std::string own_;
    const std::string path_;
    const std::string text_;
    std::optional<std::int32_t> version_;  ///< none: it must be read first
    const replaceable may_replace_;
    bool sent_ = false;  ///< a write was sent, and its outcome is unknown
    bool in_flight_ = false;
    bool last_try_ = false;
    bool in_doubt_ = false;
    outcome what_ = outcome::unknown;
    znode_stat stat_;
};

}  // namespace latchkey
