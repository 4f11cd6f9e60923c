#pragma once

#include <latchkey/inspect.hpp>

#include "direct/direct_handoffs.hpp"
#include "look/health_check.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::cli {

/// Whether the clients of a walk that can be told of a release by a datagram can be reached by one.
class direct_check {
public:
    /// What a walk has reported.
    void look_at(const queue_view& v);

    /// Sends each client a datagram, and again twice, and waits for the answers for `limit` at
    /// most.
    void ask(std::chrono::milliseconds limit);

    [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }

    [[nodiscard]] std::size_t answered() const;

    /// Nothing if all have answered.
    [[nodiscard]] std::optional<finding> silent() const;

private:
    struct client {
        direct_contact contact;
        std::string name;  ///< of its first participant
        std::string path;
        std::string who;
        bool has_answered = false;
    };

    void take(std::string_view datagram);

    std::map<std::string, client> clients_;  ///< by their addresses
};

}  // namespace latchkey::cli
