#pragma once

#include "loop/io_loop.hpp"
#include "session/session.hpp"
#include "zookeeper/name_resolution.hpp"
#include "zookeeper/server_list.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// The addresses behind a session's endpoints, which are tried in turn. Names are resolved on a
/// thread that the loop does not wait for, and again when look_up() is called, because servers may
/// get other addresses. On the loop only.
class server_addresses {
public:
    /// For people: each name that could not be resolved, and why.
    using failures = std::vector<std::string>;

    /// `resolved` is called after each look-up that took time, but not after this object was
    /// destroyed.
    server_addresses(const std::shared_ptr<io_loop>& l,
                     name_resolver resolver,
                     std::vector<session_options::endpoint> endpoints,
                     std::function<void(const failures&)> resolved);

    /// Looks up the names, unless that is already under way. Numeric addresses are there at once.
    void look_up();

    /// Whether no address is known.
    [[nodiscard]] bool empty() const noexcept { return servers_.empty(); }

    [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }

    /// The next address to try. There must be one.
    [[nodiscard]] server_address next() { return servers_.next(); }

private:
    void use(std::vector<server_address> addresses);

    std::weak_ptr<io_loop> loop_;
    const name_resolver resolver_;
    const std::vector<session_options::endpoint> endpoints_;
    const std::function<void(const failures&)> resolved_;
    server_list servers_;
    bool resolving_ = false;
    const std::shared_ptr<server_addresses*> self_ = std::make_shared<server_addresses*>(this);
};

}  // namespace latchkey::inline v0
