#pragma once

#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>

#include "eventually.hpp"
#include "leader/transfer/mailbox.hpp"
#include "world.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace latchkey::test {

/// That many candidates are in the election on `path`, now or soon, and so many of them can be
/// asked: a candidate's mailbox comes a moment after its place in the queue.
[[nodiscard]] inline bool candidates_are_there(world& w,
                                               const std::string& path,
                                               std::size_t candidates,
                                               std::size_t with_mailbox) {
    return eventually([&] {
        const auto queue = w.children(path);
        return queue.size() == candidates &&
               reachable(queue, w.children(peers_of(path))).size() == with_mailbox;
    });
}

/// The result of a transfer to a candidate that is there. The leader's client, `c`, may be
/// connected to a server that does not know of it yet; and an offer stands only for a sixth of the
/// session timeout, so that a machine which was held up makes another one.
[[nodiscard]] inline leader_latch::transfer transfer_in_time(const client& c,
                                                             leader_latch& leader,
                                                             const std::string& id) {
    catch_up(c);
    auto what = leader_latch::transfer::not_accepted;
    static_cast<void>(eventually([&] {
        what = leader.transfer_to(id, std::chrono::seconds(60));
        return what != leader_latch::transfer::not_accepted;
    }));
    return what;
}

}  // namespace latchkey::test
