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

task<std::vector<reply>> read_all(client_core& core, std::vector<std::string> paths) {
    std::vector<oneshot<reply>> asked;
    for (std::string& path : paths) {
        asked.push_back(core.send(request::get(std::move(path))));
    }
    std::vector<reply> answers;
    for (auto& one : asked) {
        reply r = co_await one;
        answers.push_back(std::move(r));
    }
    co_return answers;
}

}  // namespace latchkey::inline v0
