#pragma once

#include <string>

namespace latchkey::cli {

/// Something that was taken away from its owner by hand.
struct audit_entry {
    std::string action;   ///< "break"
    std::string node;     ///< the path of the znode
    std::string owner;    ///< who had it, by its own account; escaped
    std::string session;  ///< whose it was
    std::string reason;   ///< as the user gave it
};

/// One line: `break node="/a/b" owner="..." session="0x1" by="root" uid=0 reason="..."`.
[[nodiscard]] std::string audit_text(const audit_entry& e);

/// Sends the line to the system's log, if there is one: facility LOG_AUTH, priority LOG_NOTICE,
/// program latchkey. LOG_AUTH, because it is about who may have what, and is kept longer than other
/// messages; not LOG_AUTHPRIV, because there is no secret in it.
void write_audit(const audit_entry& e);

}  // namespace latchkey::cli
