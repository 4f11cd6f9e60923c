#include "client/until_answered.hpp"

#include "loop/paced_retry.hpp"

#include <utility>

namespace latchkey::inline v0 {

task<reply> until_answered(client_core& core, request r, bool (reply::*enough)() const noexcept) {
    paced_retry again(core.loop());
    while (true) {
        auto connected = core.connection_made();
        co_await connected;
        auto sent = core.send(r);
        reply answer = co_await sent;
        if ((answer.*enough)()) {
            co_return answer;
        }
        auto pause = core.pause(again);
        co_await pause;
    }
}

}  // namespace latchkey::inline v0
