#pragma once

#include "call/retrying_operation.hpp"
#include "leader/transfer/mailbox.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace latchkey {

/// Writes a leader's record into the data of the election's path, or a letter into a mailbox,
/// guarded by the leader's own znode: `multi[check(own), set(path, record, version)]`.
///
/// Once, whatever becomes of requests and answers: it replaces one version of the data and no
/// other, so that a write that was thought lost and comes late is refused. When the outcome is not
/// known the data is read, and tells. Data of the path that is no record is left alone. Ends with
/// the session.
class guarded_write final : public retrying_operation {
public:
    enum class outcome : std::uint8_t {
        unknown,  ///< the session, or somebody, ended it: it may have been written, if sent()
        written,  ///< stat() is what the path had right after
        gone,     ///< not written now: the own znode, or the mailbox, is not there; see in_doubt()
        refused,  ///< not written, for the reason that the result tells
    };

    /// `own` is the leader's znode, in the path's directory; `version` that of the data that may be
    /// replaced, if it was read already.
    guarded_write(std::shared_ptr<client_core> core,
                  std::string own,
                  std::string text,
                  std::optional<std::int32_t> version);

    /// A letter into the mailbox at `mailbox`, whatever is in there.
    guarded_write(std::shared_ptr<client_core> core,
                  std::string own,
                  std::string mailbox,
                  const mailbox_message& letter);

    /// Nothing more is sent: ends with the answer to what is under way. False if nothing is.
    bool end_with_this_try() noexcept {
        last_try_ = in_flight_;
        return last_try_;
    }

    [[nodiscard]] outcome what() const noexcept { return what_; }

    [[nodiscard]] bool sent() const noexcept { return sent_; }

    /// The answer to an earlier try was lost: it may have been written, and replaced since.
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
    const bool is_record_;
    const std::string text_;
    std::optional<std::int32_t> version_;  ///< none: it has to be read first
    bool sent_ = false;                    ///< once, and whether it was written is not known
    bool in_flight_ = false;
    bool last_try_ = false;
    bool in_doubt_ = false;
    outcome what_ = outcome::unknown;
    znode_stat stat_;
};

/// What is told of a path whose data is no leader's record.
[[nodiscard]] failure foreign_data(std::string_view path);

}  // namespace latchkey
