#include <latchkey/ensemble.hpp>

#include "client/client_core.hpp"
#include "ensemble/ensemble_access.hpp"
#include "session/connect_string.hpp"

#include <utility>

// The function of `ensemble` that needs the client: the one place that joins the two.

namespace latchkey::inline v0::testing {

client ensemble::connect(client_options how, const std::string& chroot) {
    how.tls.reset();  // there is no network
    return client_core::handle(client_core::start(
        runtime_of(*this), parse_connect_string(servers() + chroot), std::move(how)));
}

}  // namespace latchkey::inline v0::testing
