#pragma once

#include "client/retrying_call.hpp"
#include "queue/queue_recipe.hpp"

#include <memory>
#include <utility>

namespace latchkey::inline v0 {

/// Creates or deletes a barrier's znode. Either may be repeated.
class barrier_change final : public retrying_call<bool> {
public:
    /// `stands`: afterwards.
    barrier_change(std::shared_ptr<client_core> core, const queue_recipe& recipe, bool stands)
        : retrying_call(std::move(core)),
          creates_(stands),
          request_(stands ? request::create(recipe.directory,
                                            recipe.data(lock_mode::exclusive),
                                            create_mode::persistent,
                                            *recipe.access)
                          : request::remove(recipe.directory)) {}

private:
    [[nodiscard]] call_aim aim() const override {
        return {creates_ ? "set the barrier" : "remove the barrier", {request_.path}};
    }

    task<attempted> attempt() override {
        if (creates_) {
            above_ = above_.then(core()->create_parents(request_.path, request_.access));
        }
        auto sent = core()->send(request_);
        const reply r = co_await sent;
        if (r.ok() || r.code == (creates_ ? result_code::node_exists : result_code::no_node)) {
            co_return result{{}, true};
        }
        const result_code why = above_.cause_of(r.code);
        if (why == result_code::no_node || why == result_code::throttled || outcome_unknown(why)) {
            co_return std::nullopt;
        }
        co_return result{failure_of(why, request_.path, request_.what), false};
    }

    const bool creates_;
    const request request_;
    directory_creation above_;
};

}  // namespace latchkey::inline v0
