#include "zookeeper/server_addresses.hpp"

#include <utility>

namespace latchkey::inline v0 {

server_addresses::server_addresses(const std::shared_ptr<io_loop>& l,
                                   name_resolver resolver,
                                   std::vector<session_options::endpoint> endpoints,
                                   std::function<void(const failures&)> resolved)
    : loop_(l),
      resolver_(std::move(resolver)),
      endpoints_(std::move(endpoints)),
      resolved_(std::move(resolved)) {}

void server_addresses::look_up() {
    if (auto numeric = numeric_addresses(endpoints_)) {
        use(std::move(*numeric));
        return;
    }
    if (std::exchange(resolving_, true)) {
        return;
    }
    resolver_(endpoints_, [weak = std::weak_ptr(self_), weak_loop = loop_](name_resolution result) {
        if (const auto l = weak_loop.lock()) {
            l->post([weak, result = std::move(result)]() mutable {
                if (const auto self = weak.lock()) {
                    (*self)->resolving_ = false;
                    (*self)->use(std::move(result.addresses));
                    const auto resolved = (*self)->resolved_;
                    resolved(result.failures);
                }
            });
        }
    });
}

/// Keeps the known addresses if there are no others.
void server_addresses::use(std::vector<server_address> addresses) {
    const auto l = loop_.lock();
    server_list now(std::move(addresses), [&l] { return l->random(); });
    if (!now.empty() && !now.same_servers(servers_)) {
        servers_ = std::move(now);
    }
}

}  // namespace latchkey::inline v0
