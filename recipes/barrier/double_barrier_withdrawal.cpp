#include "barrier/double_barrier_withdrawal.hpp"

#include "text/path.hpp"

#include <optional>
#include <utility>

namespace latchkey::inline v0 {
namespace {

bool is_answer(const reply& r) {
    return r.ok() || r.code == result_code::no_node;
}

withdrawn not_withdrawn(const reply& r, const std::string& path) {
    if (may_change(r.code)) {
        return {withdrawn::kind::unclear};
    }
    return {withdrawn::kind::refused, {}, failure_of(r.code, path)};
}

}  // namespace

bool may_change(result_code code) {
    return outcome_unknown(code) || code == result_code::throttled || proves_quorum(code);
}

request removal_at(std::int32_t version, const double_barrier_state& at) {
    return request::multi({request::check(at.as.directory, version),
                           request::remove(join_path(at.as.directory, at.own))});
}

task<counted> is_counted_on(std::shared_ptr<client_core> core,
                            std::shared_ptr<const double_barrier_state> at,
                            std::int64_t begun) {
    if (!at->in_doubt) {
        co_return counted{};
    }
    auto asked = core->send(request::get(join_path(at->as.directory, at->own)));
    const reply own = co_await asked;
    if (!is_answer(own)) {
        co_return counted{false, false, own};
    }
    co_return counted{true, own.ok() && own.stat.czxid < begun};
}

task<withdrawn> withdraw_from_barrier(std::shared_ptr<client_core> core,
                                      std::shared_ptr<double_barrier_state> at) {
    using enum withdrawn::kind;
    const std::string path = at->as.directory;
    auto directory_asked = core->send(request::get(path));
    auto ready_asked = core->send(request::get(join_path(path, double_barrier_round::ready)));
    const reply directory = co_await directory_asked;
    const reply ready = co_await ready_asked;
    if (directory.code == result_code::no_node) {
        co_return withdrawn{left};
    }
    if (!directory.ok()) {
        co_return not_withdrawn(directory, path);
    }
    if (!is_answer(ready)) {
        co_return not_withdrawn(ready, path);
    }
    at->directory = directory.stat.czxid;
    auto round = ready.ok() ? double_barrier_round::read(ready.data) : std::nullopt;
    if (round && round->has(at->own)) {
        auto counting = is_counted_on(core, at, ready.stat.czxid);
        const counted own = co_await counting;
        if (!own.known) {
            co_return not_withdrawn(own.answer, path);
        }
        if (own.yes) {
            co_return withdrawn{passed, *std::move(round)};
        }
    }
    auto removed = core->send(removal_at(directory.stat.version, *at));
    const reply r = co_await removed;
    if (r.ok() || (r.results.size() == 2 && r.results[1].code == result_code::no_node)) {
        co_return withdrawn{left};
    }
    if (r.code == result_code::bad_version) {
        co_return withdrawn{changed};
    }
    co_return not_withdrawn(r, path);
}

}  // namespace latchkey::inline v0
