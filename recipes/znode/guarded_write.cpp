#include "znode/guarded_write.hpp"

#include "loop/paced_retry.hpp"

#include <utility>

namespace latchkey::inline v0 {
task<guarded_written> write_guarded(client_core& core, guarded_write& w) {
    using enum guarded_written::kind;
    const std::uint64_t generation = core.generation();
    paced_retry again(core.loop());
    bool look = !w.version;
    bool in_doubt = false;
    while (true) {
        auto connected = core.connection_made();
        co_await connected;
        if (core.generation() != generation) {
            // The write belongs to the session before. Its znode may still exist.
            co_return guarded_written{.in_doubt = in_doubt};
        }
        result_code code = result_code::ok;
        if (look) {
            auto asked = core.send(request::get(w.path));
            const reply seen = co_await asked;
            code = seen.code;
            if (code == result_code::no_node) {
                co_return guarded_written{.what = gone, .in_doubt = in_doubt};
            }
            if (seen.ok()) {
                if (w.sent && seen.stat.version == next_version(*w.version) &&
                    seen.data == w.text(seen.stat.version)) {
                    co_return guarded_written{written, {}, seen.stat, in_doubt};
                }
                failure why =
                    w.may_replace != nullptr ? w.may_replace(w.path, seen.data) : failure();
                if (why) {
                    co_return guarded_written{refused, std::move(why), {}, in_doubt};
                }
                w.version = seen.stat.version;
            }
        }
        if (code == result_code::ok) {
            w.sent = w.in_flight = look = true;
            auto sent = core.send(request::multi(
                {request::check(w.own),
                 request::set(w.path, w.text(next_version(*w.version)), *w.version)}));
            const reply r = co_await sent;
            w.in_flight = false;
            in_doubt = in_doubt || outcome_unknown(r.code);
            if (r.ok()) {
                co_return guarded_written{written, {}, r.results.at(1).stat, in_doubt};
            }
            if (r.refused(0, result_code::no_node) || r.refused(1, result_code::no_node)) {
                co_return guarded_written{.what = gone, .in_doubt = in_doubt};
            }
            if (w.last_try) {
                co_return guarded_written{.in_doubt = in_doubt};
            }
            if (r.refused(1, result_code::bad_version)) {
                auto pause = again.short_pause();  // another client wrote, or we did before
                co_await pause;
                continue;
            }
            code = r.code;
        }
        if (!outcome_unknown(code) && code != result_code::throttled) {
            co_return guarded_written{refused, failure_of(code, w.path), {}, in_doubt};
        }
        auto pause = core.pause(again);
        co_await pause;
    }
}

}  // namespace latchkey::inline v0
