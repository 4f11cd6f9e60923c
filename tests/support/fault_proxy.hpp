#pragma once

#include "tcp_proxy.hpp"
#include "zookeeper_frames.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {

/// A tcp_proxy before a ZooKeeper server that understands what passes: it loses a chosen request
/// before the server sees it, or the answer to one that was applied, and delays events.
///
/// Frames are passed on whole, one by one, in order. What is no frame (four letter words) passes as
/// it is.
class fault_proxy : public tcp_proxy {
public:
    /// What is lost: a request, which is then not applied, or its reply, which means that the
    /// server has applied (or refused) it.
    enum class part : std::uint8_t { request, reply };

    /// What happens to the connection then. What was before the lost frame in its direction still
    /// arrives.
    enum class then : std::uint8_t {
        cut,      ///< ends on both sides
        silence,  ///< nothing more passes in that direction, and neither side is notified: only a
                  ///< timeout shows it
        go_on,    ///< as if there had been no such frame. No network does that: the C client sees
                  ///< that numbers do not match, and calls it ZRUNTIMEINCONSISTENCY
    };

    /// Which requests are meant.
    struct selection {
        opcode operation;
        std::vector<opcode> parts = {};  ///< of a multi, exactly; empty: any multi
        std::int64_t session = 0;        ///< only of this one, if not 0
        int after = 0;                   ///< so many pass first
        int times = 1;
    };

    /// By what was asked; `lost` is not in the others.
    struct counts {
        std::map<opcode, std::size_t> requests;
        std::map<opcode, std::size_t> replies;
        std::map<opcode, std::size_t> lost_requests;
        std::map<opcode, std::size_t> lost_replies;
        std::size_t events = 0;
        std::size_t malformed = 0;

        [[nodiscard]] std::size_t lost() const;
    };

    explicit fault_proxy(const std::string& server);
    ~fault_proxy();
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    /// From now on; rules add up, and the first that is meant is used up first.
    void lose(part what, then next, selection of);
    /// Forgets the rules that are not used up.
    void lose_nothing();

    /// Events of watches take so much longer from now on, and all that is behind them on their
    /// connection waits with them, as TCP has it: to a client its server is late.
    void delay_events(std::chrono::milliseconds time);

    /// Frames so far. Malformed ones have passed.
    [[nodiscard]] counts counted() const;

private:
    class rules;
    class filter;

    fault_proxy(const std::string& server, const std::shared_ptr<rules>& shared);

    std::shared_ptr<rules> rules_;
};

}  // namespace latchkey::test
