#pragma once

#include "client/client_core.hpp"
#include "client/session_listener.hpp"
#include "client/user_call.hpp"
#include "loop/paced_retry.hpp"
#include "loop/task.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace latchkey::inline v0 {

/// A call that sends requests until it has reached its aim. The core keeps it alive.
///
/// Its work is attempt(): begun at the start if there is a connection, and begun again with each
/// later connection. An attempt is dropped where it waits when another one begins, and with the
/// result. It is confirmed once the servers have answered it; a call that only looks never is,
/// because an answer of use would have ended it.
template <class T>
class retrying_call : public user_call<T>, public session_listener {
public:
    using result = typename user_call<T>::result;

    explicit retrying_call(std::shared_ptr<client_core> core)
        : user_call<T>(std::move(core)), retry_(this->core()->loop()) {}

protected:
    /// How an attempt ended. Nothing: another one follows after a pause, or with the next
    /// connection.
    using attempted = std::optional<result>;

    /// Not for a call that only waits for another object.
    virtual task<attempted> attempt() {
        co_await until_dropped;
        co_return std::nullopt;
    }

    void begin() override {
        attach();
        if (this->core()->connected()) {
            session_connected();
        }
    }

    /// Makes the core tell it of the session and keep it alive.
    void attach() {
        this->core()->attach(std::shared_ptr<session_listener>(this->shared_from_this(), this));
    }

    void session_connected() override {
        drop_attempt();
        running_.start(attempt(), [this](attempted a) {
            if (a) {
                finish(*std::move(a));
            } else if (this->core()->connected()) {
                // This was a server's answer, so no new connection need follow soon.
                retry_.later([this] {
                    if (this->core()->connected()) {
                        const auto self = this->shared_from_this();
                        session_connected();
                    }
                });
            }
        });
    }

    void give_up() override { finish({}); }

    void client_closed(const failure& why) override { finish({why}); }

    [[nodiscard]] bool is_confirmed() const final { return !this->only_looks() && is_answered(); }

    /// Whether the servers have answered this call since it began.
    [[nodiscard]] virtual bool is_answered() const { return answered_; }

    /// Sends a request of this call. Its answer counts for is_answered(), even after the attempt
    /// that has sent it.
    [[nodiscard]] oneshot<reply> ask(request r) {
        oneshot<reply> answer;
        this->core()->submit(
            std::move(r), [weak = this->weak_from_this(), this, set = answer.setter()](reply got) {
                if (const auto self = weak.lock()) {
                    answered_ = answered_ || in_order_of_writes(got.code);
                }
                set(std::move(got));
            });
        return answer;
    }

    /// Not from inside of an attempt.
    void finish(result r) {
        const auto self = this->shared_from_this();
        drop_attempt();
        this->core()->detach(this);
        user_call<T>::finish(std::move(r));
    }

    /// Ends the attempt that is under way, if there is one. Not from inside of it.
    void drop_attempt() noexcept {
        running_.drop();
        retry_.cancel();
    }

    /// For an attempt: before it repeats a step that failed because something has changed
    /// meanwhile. The first few times there is no pause.
    [[nodiscard]] auto short_pause() { return retry_.short_pause(); }

private:
    bool answered_ = false;
    paced_retry retry_;
    running_task running_;
};

}  // namespace latchkey::inline v0
