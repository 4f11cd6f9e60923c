#include "leader/transfer/candidate_lookup.hpp"

#include "loop/paced_retry.hpp"
#include "text/path.hpp"

#include <cstddef>
#include <vector>

namespace latchkey::inline v0 {
task<candidate_lookup> look_up_candidate(client_core& core,
                                         std::string path,
                                         std::string but,
                                         wanted_candidate wanted) {
    paced_retry again(core.loop());
    while (true) {
        auto connected = core.connection_made();
        co_await connected;
        auto queue_asked = core.send(request::children(path));
        auto peers_asked = core.send(request::children(peers_of(path)));
        const reply queue = co_await queue_asked;
        const reply peers = co_await peers_asked;
        const reply& unclear = queue.tells_whether_there() ? peers : queue;
        result_code code = unclear.tells_whether_there() ? result_code::ok : unclear.code;
        std::vector<reachable_candidate> candidates;
        if (code == result_code::ok) {
            candidates = reachable(queue.names, peers.names);
            std::erase_if(candidates, [&](const reachable_candidate& one) {
                return one.znode == but ||
                       (wanted.mailbox && wanted.mailbox->text() != one.mailbox);
            });
            if (!wanted.id && !candidates.empty()) {
                co_return candidate_lookup{true, candidates.front()};
            }
        }
        std::vector<oneshot<reply>> ids;
        for (const reachable_candidate& one : candidates) {
            ids.push_back(core.send(request::get(join_path(path, one.znode))));
        }
        for (std::size_t i = 0; i < ids.size() && code == result_code::ok; ++i) {
            auto& id_asked = ids[i];
            const reply id = co_await id_asked;
            if (id.ok() && id.data == *wanted.id) {
                co_return candidate_lookup{true, candidates[i]};
            }
            code = id.tells_whether_there() ? result_code::ok : id.code;
        }
        if (!outcome_unknown(code) && code != result_code::throttled) {
            co_return candidate_lookup{code == result_code::ok};
        }
        if (core.connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
}

}  // namespace latchkey::inline v0
