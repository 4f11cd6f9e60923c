#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/failure.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

struct swapped {
    enum class kind : std::uint8_t {
        done,
        guard_failed,  ///< a check did not hold, or the new ones' directory is not there, alone
        gone,          ///< the old znode was not there any more
        refused        ///< the old one is still there
    };

    kind what = kind::refused;
    failure why = {};
    /// One was sent before the one that was answered, and may have been done.
    bool in_doubt = false;
};

/// Puts one ephemeral znode of ours, or several, in the place of another, all or nothing, whatever
/// requests and answers are lost: `multi[create new..., checks, delete old]`. On the loop only, for
/// one session; while disconnected, with the next connection.
///
/// The new names are known before, and no other client uses them. When the outcome is unknown, two
/// reads look for the old znode and then for the new one. Without the old one the transaction can
/// never be applied any more. While the old one is there, the same transaction is sent again. Its
/// refusal shows whether the first one was applied, or whether a read has to show that. Where that
/// stays open, or nobody waits for it any more, the new ones are deleted once `from` is, by the
/// client's guaranteed deletes.
[[nodiscard]] task<swapped> swap_znodes(std::shared_ptr<client_core> core,
                                        std::vector<request> to,
                                        std::vector<request> guards,
                                        std::string from);

}  // namespace latchkey::inline v0
