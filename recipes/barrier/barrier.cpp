#include <latchkey/barrier.hpp>

#include "barrier/barrier_change.hpp"
#include "call/retrying_operation.hpp"
#include "client/fork_safe.hpp"
#include "queue/acquire_calls.hpp"
#include "text/path.hpp"
#include "znode/znode_watch.hpp"

#include <utility>

namespace latchkey {
namespace {

/// Waits until the barrier's znode is deleted, or does not exist.
class barrier_wait final : public retrying_operation, znode_watch::observer {
public:
    barrier_wait(std::shared_ptr<client_core> core, std::string path)
        : retrying_operation(std::move(core)), path_(std::move(path)) {}

private:
    void session_connected() override {
        next_step();
        // A write that changes nothing: what is read behind it is at least as new as this call. A
        // sync would not do, because a leader that the other servers no longer follow answers it
        // too.
        abreast_ = false;
        core()->submit(request::multi({request::check(path_)}), here([this](const reply& r) {
                           abreast_ = proves_quorum(r.code);
                           if (!abreast_) {
                               begin_again();
                           }
                       }));
        znode_watch::observer& self = *this;
        watch_ = std::make_shared<znode_watch>(core(), path_, self);
        watch_->arm();
    }

    void on_watch_set(const znode_stat&, const std::string&) override {
        if (only_looks() && abreast_) {
            finish({});
        }
    }

    void on_znode_deleted() override {
        if (abreast_) {
            end({{}, true});
        }
    }

    void on_watch_refused(result_code code) override {
        if (code == result_code::no_auth) {
            end({failure_of(code, path_), false});
        } else if (outcome_unknown(code)) {
            begin_again();
        } else {
            retry_later();
        }
    }

    void end(result r) {
        if (!finished()) {
            finish(std::move(r));
        }
    }

    const std::string path_;
    bool abreast_ = false;  ///< what is seen is at least as new as the call
    std::shared_ptr<znode_watch> watch_;
};

}  // namespace

class barrier::impl {
public:
    impl(std::shared_ptr<client_core> c, queue_recipe p) : core(std::move(c)), as(std::move(p)) {}

    [[nodiscard]] std::shared_ptr<retrying_operation> wait() const {
        return std::make_shared<barrier_wait>(core, as.directory);
    }

    const std::shared_ptr<client_core> core;
    const queue_recipe as;
};

barrier::barrier(client& c, std::string path, mutex_options options) {
    const auto core = client_core::of(c);
    auto as = queue_recipe_of(*core, std::move(path), {}, std::move(options), "barrier");
    impl_ = fork_safe<impl>(core, std::move(as));
}

barrier::~barrier() = default;

void barrier::set() {
    wait_for_answer(barrier_change::to_stand(impl_->core, impl_->as));
}

void barrier::remove() {
    wait_for_answer(barrier_change::to_be_gone(impl_->core, impl_->as));
}

bool barrier::wait(std::stop_token stop) {
    return wait_within(std::chrono::nanoseconds::max(), std::move(stop));
}

bool barrier::wait_within(std::chrono::nanoseconds limit, std::stop_token stop) {
    return latchkey::wait_for(impl_->wait(), limit, stop);
}

void barrier::async_wait(std::chrono::nanoseconds limit,
                         std::stop_token stop,
                         wait_handler handler) {
    start_async(impl_->wait(), limit, stop, std::move(handler));
}

const std::string& barrier::path() const noexcept {
    return impl_->as.directory;
}

}  // namespace latchkey
