#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/client_options.hpp>

namespace latchkey::inline v0 {

/// Throws errc::invalid_argument for a list that would shut out the client that writes it, which
/// has these options: nobody but the servers' superuser could repair what it has created. The
/// message names the entry, without what may be a password, and the remedy.
///
/// An `ip` entry counts if it is for an address of this machine, `auth` if there are credentials or
/// a certificate, `x509` if there is a certificate, and a scheme of the servers' own if there are
/// credentials of it. What follows from a certificate is not known here: such an entry may be this
/// client's.
void check_access(const acl& access, const client_options& own);

}  // namespace latchkey::inline v0
