#include <latchkey/barrier.hpp>

#include "barrier/barrier_change.hpp"
#include "client/fork_safe.hpp"
#include "client/retrying_call.hpp"
#include "queue/acquire_calls.hpp"
#include "text/path.hpp"
#include "znode/until_deleted.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

/// Waits until the barrier's znode is deleted, or does not exist.
class barrier_wait final : public retrying_call<bool> {
public:
    barrier_wait(std::shared_ptr<client_core> core, std::string path)
        : retrying_call(std::move(core)), path_(std::move(path)) {}

private:
    [[nodiscard]] call_aim aim() const override { return {"pass the barrier", {path_}}; }

    task<attempted> attempt() override {
        // A write that changes nothing: what is read behind it is at least as new as this call. A
        // sync would not do, because a leader that the other servers no longer follow answers it
        // too.
        auto sent = ask(request::multi({request::check(path_)}));
        auto waiting = until_deleted(core(), path_, !only_looks());
        const deletion end = co_await waiting;
        const reply written = co_await sent;
        for (const result_code code : {end.seen, written.code}) {
            if (refused_for_good(code)) {
                co_return result{failure_of(code, path_, request::kind::exists), false};
            }
        }
        const bool known = end.seen == result_code::no_node || end.seen == result_code::ok;
        if (!known || !proves_quorum(written.code)) {
            co_return std::nullopt;
        }
        co_return result{{}, end.seen == result_code::no_node};
    }

    const std::string path_;
};

}  // namespace

class barrier::impl {
public:
    impl(std::shared_ptr<client_core> c, queue_recipe p)
        : core(std::move(c)), recipe(std::move(p)) {}

    [[nodiscard]] std::shared_ptr<retrying_call<bool>> wait() const {
        return std::make_shared<barrier_wait>(core, recipe.directory);
    }

    [[nodiscard]] auto change(bool stands) const {
        return std::make_shared<barrier_change>(core, recipe, stands);
    }

    const std::shared_ptr<client_core> core;
    const queue_recipe recipe;
};

barrier::barrier(const client& c, std::string path, lock_options options) {
    const auto core = client_core::of(c);
    auto recipe =
        queue_recipe_of(*core, std::move(path), no_participants, std::move(options), "barrier");
    impl_ = fork_safe<impl>(core, std::move(recipe));
}

barrier::~barrier() = default;

void barrier::set(std::error_code& ec) {
    report(ec, [&] { wait_for_answer(impl_->change(true)); });
}

void barrier::remove(std::error_code& ec) {
    report(ec, [&] { wait_for_answer(impl_->change(false)); });
}

bool barrier::wait_within(std::chrono::nanoseconds timeout,
                          std::stop_token stop,
                          std::error_code& ec) {
    return report(ec, [&] { return latchkey::wait_for(impl_->wait(), timeout, stop); });
}

void barrier::start_wait(std::chrono::nanoseconds timeout,
                         std::stop_token stop,
                         wait_handler handler) {
    start_async(impl_->wait(), timeout, stop, std::move(handler));
}

const std::string& barrier::path() const noexcept {
    return impl_->recipe.directory;
}

}  // namespace latchkey::inline v0
