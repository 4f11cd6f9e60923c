#include "barrier/barrier_change.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

barrier_change::barrier_change(std::shared_ptr<client_core> core,
                               const queue_recipe& recipe,
                               bool stands)
    : retrying_call(std::move(core)),
      request_(stands ? request::create(recipe.directory,
                                        recipe.data(lock_mode::exclusive),
                                        create_mode::persistent,
                                        *recipe.access)
                      : request::remove(recipe.directory)) {}

call_aim barrier_change::aim() const {
    const bool creates = request_.what == request::kind::create;
    return {creates ? "set the barrier" : "remove the barrier", {request_.path}};
}

task<barrier_change::attempted> barrier_change::attempt() {
    const bool creates = request_.what == request::kind::create;
    const auto above =
        creates ? core()->create_parents(request_.path, request_.access) : directory_creation();
    auto sent = core()->send(request_);
    const reply r = co_await sent;
    if (r.ok() || r.code == (creates ? result_code::node_exists : result_code::no_node)) {
        co_return result{{}, true};
    }
    const result_code why = above.cause_of(r.code);
    if (why == result_code::no_node || why == result_code::throttled || outcome_unknown(why)) {
        co_return std::nullopt;
    }
    co_return result{failure_of(why, request_.path, request_.what), false};
}

}  // namespace latchkey::inline v0
