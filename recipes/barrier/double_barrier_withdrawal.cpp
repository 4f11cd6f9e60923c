#include "barrier/double_barrier_enter.hpp"

#include <utility>

namespace latchkey::inline v0 {

/// Deletes the own znode, unless a round that counts on it has begun: such a round would have
/// changed the directory's version. Two round trips.
task<double_barrier_enter::attempted> double_barrier_enter::withdraw() {
    const std::string& directory = at_->as.directory;
    while (true) {
        auto directory_asked = core()->send(request::get(directory));
        auto ready_asked = core()->send(request::get(path_of(double_barrier_round::ready)));
        const reply seen = co_await directory_asked;
        const reply ready = co_await ready_asked;
        if (seen.code == result_code::no_node) {
            co_return left();
        }
        if (!seen.ok() || !ready.tells_whether_there()) {
            co_return refused(seen.ok() ? ready.code : seen.code, directory).with;
        }
        at_->directory = seen.stat.czxid;
        auto round = ready.ok() ? double_barrier_round::read(ready.data) : std::nullopt;
        if (round && round->has(at_->own)) {
            auto counting = counted_own(ready.stat.czxid);
            const result_code counted = co_await counting;
            if (counted == result_code::ok) {
                co_return passed(*std::move(round)).with;
            }
            if (counted != result_code::no_node) {
                co_return refused(counted, directory).with;
            }
        }
        auto removed = core()->send(removal_at(seen.stat.version));
        const reply r = co_await removed;
        if (r.ok() || r.refused(1, result_code::no_node)) {
            co_return left();
        }
        if (r.code != result_code::bad_version) {
            co_return refused(r.code, directory).with;
        }
        auto pause = short_pause();
        co_await pause;
    }
}

/// Whether the round that began with the transaction `begun` has counted the znode that exists now:
/// `ok`, `no_node` if not, or why that is not known. A participant may have created its znode
/// twice, because an answer was lost. The round may have counted the first one before another
/// client deleted it. One round trip, and none if no answer was lost.
task<result_code> double_barrier_enter::counted_own(std::int64_t begun) {
    if (!at_->in_doubt) {
        co_return result_code::ok;
    }
    auto asked = core()->send(request::get(path_of(at_->own)));
    const reply own = co_await asked;
    co_return own.ok() && own.stat.czxid >= begun ? result_code::no_node : own.code;
}

request double_barrier_enter::removal_at(std::int32_t version) const {
    return request::multi(
        {request::check(at_->as.directory, version), request::remove(path_of(at_->own))});
}

double_barrier_enter::attempted double_barrier_enter::left() {
    sent_ = false;
    return ended({});
}

}  // namespace latchkey::inline v0
