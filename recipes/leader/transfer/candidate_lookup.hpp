#pragma once

#include "call/retrying_operation.hpp"
#include "leader/transfer/mailbox.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// Looks for a candidate that takes part in transfers, by its mailbox or its id. Reached when the
/// servers have answered. Ends with the session, because the candidate that looks loses its place
/// then.
class candidate_lookup final : public retrying_operation {
public:
    struct wanted {
        std::optional<mailbox_name> mailbox = {};  ///< nothing: any
        std::optional<std::string> id = {};        ///< nothing: any
    };

    /// `but` is the name, in the queue, of the candidate that looks.
    candidate_lookup(std::shared_ptr<client_core> core, std::string path, std::string but, wanted w)
        : retrying_operation(std::move(core)),
          path_(std::move(path)),
          but_(std::move(but)),
          wanted_(std::move(w)) {}

    [[nodiscard]] const std::optional<reachable_candidate>& found() const noexcept {
        return found_;
    }

private:
    void session_connected() override;

    void session_ended(loss) override { finish({}); }

    void on_listed();
    void on_id(const reply& r, std::size_t candidate);
    [[nodiscard]] bool answered(const reply& r, const std::string& path);

    const std::string path_;
    const std::string but_;
    const wanted wanted_;
    reply queue_;
    std::vector<reachable_candidate> reachable_;
    std::size_t unanswered_ = 0;
    std::optional<reachable_candidate> found_;
};

}  // namespace latchkey
