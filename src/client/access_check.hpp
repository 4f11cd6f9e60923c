#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/client_options.hpp>

#include <vector>

namespace latchkey::inline v0 {

/// Throws errc::invalid_argument for a list that would shut out the client that writes it, which
/// has these credentials: nobody but the servers' superuser could repair what it has created. The
/// message names the entry, without what may be a password, and the remedy.
///
/// Addresses, certificates and schemes of the servers' own are not known here: such an entry may be
/// this client's.
void check_access(const acl& access, const std::vector<credentials>& own);

}  // namespace latchkey::inline v0
