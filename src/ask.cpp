#include "ask.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

/// Collects answers on the loop; the last one delivers them all.
struct collection {
    std::vector<reply> replies;
    std::size_t missing = 0;
    awaited<std::vector<reply>> all;
};

}  // namespace

std::vector<reply> ask(client_core& core, const std::vector<request>& questions) {
    if (questions.empty()) {
        return {};
    }
    const auto limit = core.session_timeout().count() > 0 ? core.session_timeout()
                                                          : core.options().session_timeout;
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (true) {
        const auto left = deadline - std::chrono::steady_clock::now();
        if (!core.wait_connected(left, {})) {
            break;
        }
        const auto answers = std::make_shared<collection>();
        answers->replies.resize(questions.size());
        answers->missing = questions.size();
        core.post([keep = core.shared_from_this(), questions, answers] {
            for (std::size_t i = 0; i < questions.size(); ++i) {
                keep->submit(questions[i], [answers, i](reply r) {
                    answers->replies[i] = std::move(r);
                    if (--answers->missing == 0) {
                        answers->all.set(std::move(answers->replies));
                    }
                });
            }
        });
        auto replies = answers->all.get_for(
            std::max<std::chrono::nanoseconds>(left, std::chrono::milliseconds(1)));
        if (!replies) {
            break;
        }
        if (std::none_of(replies->begin(), replies->end(), [](const reply& r) {
                return outcome_unknown(r.code);
            })) {
            return *std::move(replies);
        }
    }
    const std::string trouble = core.trouble();
    throw error(errc::unreachable,
                "no answer within " + std::to_string(limit.count()) + " ms" +
                    (trouble.empty() ? "" : " (" + trouble + ")"));
}

reply ask(client_core& core, const request& question) {
    return std::move(ask(core, std::vector{question}).front());
}

}  // namespace latchkey
