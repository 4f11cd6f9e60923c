#pragma once

#include "client/retrying_call.hpp"
#include "text/escape.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// Deletes the znode at a path if it is still the one with this czxid, or if the servers do not
/// show the czxid and the name has a GUID. Reached: it was deleted, or it has gone after a delete
/// whose answer was lost.
class hold_break final : public retrying_call<bool> {
public:
    hold_break(std::shared_ptr<client_core> core, std::string path, std::int64_t czxid)
        : retrying_call(std::move(core)), path_(std::move(path)), czxid_(czxid) {}

private:
    [[nodiscard]] call_aim aim() const override { return {"break", {path_}}; }

    task<attempted> attempt() override;

    const std::string path_;
    const std::int64_t czxid_;
    bool in_doubt_ = false;  ///< a delete was sent, and its answer was lost
};

}  // namespace latchkey::inline v0
