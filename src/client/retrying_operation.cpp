#include "client/retrying_operation.hpp"

namespace latchkey::inline v0 {

void retrying_operation::start(std::chrono::nanoseconds limit,
                               const std::stop_token& stop,
                               handler done) {
    only_looks_ = limit <= std::chrono::nanoseconds::zero();
    const auto patience = only_looks_ ? std::chrono::nanoseconds(core_->patience()) : limit;
    core_->post([self = shared_from_this(), patience, stop, done = std::move(done)]() mutable {
        self->done_ = std::move(done);
        self->stop_ = stop;
        self->called_ = self->core_->loop().now();
        if (self->core_->closed_why()) {
            self->client_closed(self->core_->closed_why());
            return;
        }
        if (stop.stop_requested()) {
            self->giving_up_ = true;
            self->give_up();
            return;
        }
        if (patience != std::chrono::nanoseconds::max()) {
            self->limit_.start(time_after(self->core_->loop(), patience),
                               [raw = self.get()] { raw->out_of_time(); });
        }
        self->core_->attach(self);
        self->begin();
        if (stop.stop_possible() && !self->finished()) {
            self->on_stop_.emplace(stop, [weak = self->weak_from_this()] {
                if (const auto waiting = weak.lock()) {
                    waiting->cancel();
                }
            });
        }
    });
    started_ = true;
}

void retrying_operation::cancel() {
    core_->post([self = shared_from_this()] {
        if (!self->finished() && !std::exchange(self->giving_up_, true)) {
            self->give_up();
        }
    });
}

void retrying_operation::out_of_time() {
    if (!std::exchange(giving_up_, true)) {
        const auto self = shared_from_this();
        unreachable_ = only_looks_ || !is_answered();
        give_up();
    }
}

void retrying_operation::finish(result r) {
    const auto self = shared_from_this();
    drop_attempt();
    limit_.cancel();
    on_stop_.reset();
    core_->detach(this);
    if (!r.why && !r.reached && !stop_.stop_requested()) {
        r.why = failure_in_time(*core_, aim(), called_, !unreachable_);
    }
    if (const auto done = std::exchange(done_, nullptr)) {
        note_end(r.why);
        done(std::move(r));
    }
}

oneshot<reply> retrying_operation::ask(request r) {
    oneshot<reply> answer;
    core_->submit(std::move(r), [weak = weak_from_this(), set = answer.setter()](reply got) {
        if (const auto self = weak.lock()) {
            self->answered_ = self->answered_ || in_order_of_writes(got.code);
        }
        set(std::move(got));
    });
    return answer;
}

task<retrying_operation::attempted> retrying_operation::attempt() {
    co_await until_dropped;
    co_return std::nullopt;
}

void retrying_operation::session_connected() {
    drop_attempt();
    running_.start(attempt(), [this](attempted a) {
        if (a) {
            finish(*std::move(a));
        } else if (core_->connected()) {
            // This was a server's answer, so no new connection need follow soon.
            retry_.later([this] {
                if (core_->connected()) {
                    const auto self = shared_from_this();
                    session_connected();
                }
            });
        }
    });
}

bool wait_for(const std::shared_ptr<retrying_operation>& e,
              std::chrono::nanoseconds limit,
              const std::stop_token& stop) {
    e->core()->check_may_block();
    const auto result = std::make_shared<blocking_result<retrying_operation::result>>();
    e->start(limit, stop, [result](retrying_operation::result r) { result->set(std::move(r)); });
    const retrying_operation::result r = result->get_or([&] { e->cancel(); });
    r.why.raise();
    return r.reached;
}

void wait_for_answer(const std::shared_ptr<retrying_operation>& e) {
    wait_for(e, std::chrono::nanoseconds::zero(), {});
}

void start_async(const std::shared_ptr<retrying_operation>& e,
                 std::chrono::nanoseconds limit,
                 const std::stop_token& stop,
                 move_only_function<void(std::error_code, bool)> handler) {
    e->core()->check_not_forked();
    e->start(limit,
             stop,
             [done = e->core()->callbacks().once(std::move(handler))](
                 const retrying_operation::result& r) { done(r.why.code, r.reached); });
}

}  // namespace latchkey::inline v0
