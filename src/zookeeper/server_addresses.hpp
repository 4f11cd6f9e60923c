#pragma once

#include "loop/io_loop.hpp"
#include "session/session.hpp"
#include "zookeeper/name_resolution.hpp"
#include "zookeeper/server_list.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// The addresses behind a session's endpoints, which are tried in turn. On the loop only.
///
/// Names are looked up side by side, on threads that the loop does not wait for, and again when
/// look_up() is called, because servers may get other addresses. What is known can be used at once:
/// numeric addresses from the beginning, and those of a name when it is answered. A name whose
/// look-up fails keeps the addresses that it had.
class server_addresses {
public:
    struct answer {
        std::string trouble = {};  ///< for people: the names, and why they failed or that it lasts
        bool is_first = false;     ///< the name had no addresses before
    };

    /// `names_count` as of a server_list. `resolved` is called after each look-up of a name, and
    /// when look-ups last long; not after this object was destroyed.
    server_addresses(const std::shared_ptr<io_loop>& l,
                     name_resolver resolver,
                     const std::vector<session_options::endpoint>& endpoints,
                     bool names_count,
                     std::function<void(const answer&)> resolved);

    /// Looks up each name, unless that is already under way.
    void look_up();

    /// Whether a look-up is under way.
    [[nodiscard]] bool is_asking() const noexcept;

    /// "looking up 'a', 'b'" behind `prefix`: those that have lasted for a second; empty if there
    /// are none.
    [[nodiscard]] std::string slow_look_ups(const char* prefix = "") const;

    /// Whether no address is known.
    [[nodiscard]] bool empty() const noexcept { return servers_.empty(); }

    [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }

    /// All that are known, in the order of the endpoints.
    [[nodiscard]] std::vector<server_address> all() const;

    /// The next address to try. There must be one.
    [[nodiscard]] server_address next() { return servers_.next(); }

private:
    struct host {
        session_options::endpoint endpoint;
        std::vector<server_address> addresses;  ///< as the last look-up that succeeded had them
        std::optional<loop::clock::time_point> asked = {};  ///< while a look-up is under way
        bool numeric = false;
    };

    void ask(std::size_t which);
    void answered(std::size_t which, name_resolution result);
    void use_known();

    std::weak_ptr<io_loop> loop_;
    const name_resolver resolver_;
    const std::function<void(const answer&)> resolved_;
    std::vector<host> hosts_;
    server_list servers_;
    timer slow_;
    const std::shared_ptr<server_addresses*> self_ = std::make_shared<server_addresses*>(this);
};

}  // namespace latchkey::inline v0
