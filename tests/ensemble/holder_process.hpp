#pragma once

#include <latchkey/fencing_token.hpp>

#include "child_process.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>

namespace latchkey::test {

/// What a process is to hold.
struct holder_order {
    enum class held_by : std::uint8_t { mutex, leader_latch };

    std::string servers;
    std::string path;
    std::chrono::milliseconds session_timeout{};
    held_by what = held_by::mutex;
    std::string guardian = {};  ///< the path of latchkey-guardian; empty: it has none

    [[nodiscard]] auto fields() { return std::tie(servers, path, session_timeout, what, guardian); }
};

/// Says its token when it holds, and carries out orders, one after the other, until there are no
/// more; a stopped one does when it is resumed:
///
/// "look": it says "valid", or "lost";
/// "write ZNODE": under the guard of what it holds; it says "done", or why not;
/// "fork": a child of it waits to be killed; it says the child's process id;
/// "eat": it takes memory until it is killed;
/// "release": it says "released".
void run_holder(const holder_order& o);

inline const child_program<holder_order> holder_program{"holder-process", &run_holder};

/// A holder, or a leader, in a process of its own, which can be killed and stopped. It holds when
/// the constructor returns.
class holder_process : public child_process {
public:
    explicit holder_process(const holder_order& o)
        : child_process(holder_program.command(o), true), token_{.zxid = std::stoll(answer())} {}

    [[nodiscard]] fencing_token token() const { return token_; }

    /// What the next order has led to. Blocks; throws when the process is no more.
    [[nodiscard]] std::string answer() { return hear().value(); }

private:
    fencing_token token_;
};

}  // namespace latchkey::test
