#pragma once

#include <latchkey/awaitable_handler.hpp>
#include <latchkey/function.hpp>

#include "loop/strand.hpp"
#include "session/failure.hpp"
#include "session/runtime.hpp"
#include "telemetry/log_line.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// Runs the code of one client's user on two threads, never on the loop. The stop thread requests
/// stops and runs only stop callbacks, so that no other callback delays the news of a loss. The
/// callback thread runs everything else: listeners, handlers and `log`. If the user gave an
/// executor, that runs them, and the callback thread calls the executor, which is the user's code
/// as well. Any thread.
class user_callbacks : public std::enable_shared_from_this<user_callbacks> {
public:
    using log_function = std::function<void(const log_record&)>;

    /// Throws what `env.callbacks` throws if a thread cannot be started.
    user_callbacks(const runtime& env,
                   log_function log,
                   strand::executor executor = nullptr,
                   std::string client = {});

    user_callbacks(const user_callbacks&) = delete;
    user_callbacks& operator=(const user_callbacks&) = delete;
    ~user_callbacks();

    /// Runs `code` on the callback thread, after everything that was handed over before.
    void call(move_only_function<void()> code);

    /// Requests stops on the stop thread, one after the other. When their stop callbacks have
    /// returned, `then`, if it is set, runs on the callback thread.
    void request_stops(std::vector<std::stop_source> stops,
                       move_only_function<void()> then = nullptr);

    void request_stop(std::stop_source stop) { request_stops({std::move(stop)}); }

    void log(log_line line, std::int64_t session = 0);

    /// Writes an error of the user's code to stderr, if there is no `log`: the first of a client.
    void print_once(std::string_view what);

    /// Ends logging. `done` runs when everything that was handed over to either thread has run.
    /// It waits until the user's executor has been called, and not until that runs what it got,
    /// because it may never run again.
    void end(move_only_function<void()> done);

    /// For an object of the user's whose last reference may be dropped on the loop. Its destructor,
    /// which may be the user's code, then runs on the callback thread.
    template <class T>
    [[nodiscard]] std::shared_ptr<T> keep(T object) {
        const auto made = std::make_shared<kept<T>>(shared_from_this(), std::move(object));
        return std::shared_ptr<T>(made, &made->object);
    }

    /// A function that the loop may call once, with the arguments of `handler`, which then runs on
    /// the callback thread. Called or not, `handler` is destroyed as keep() describes.
    template <template <class> class Function, class... Args>
    [[nodiscard]] auto once(Function<void(Args...)> handler) {
        using function = Function<void(Args...)>;
        return [made = std::make_shared<kept<function>>(shared_from_this(), std::move(handler))](
                   Args... args) {
            made->by->call([handler = std::move(made->object),
                            all = std::tuple<Args...>(std::move(args)...)]() mutable {
                std::apply(handler, std::move(all));
            });
        };
    }

    /// Of a call that is awaited: the result is called with a failure and, unless T is void, a
    /// value. The exception gets the message of the failure.
    template <class T>
    [[nodiscard]] auto once(awaitable_handler<T> handler) {
        if constexpr (std::is_void_v<T>) {
            return once(move_only_function<void(failure)>(
                [handler = std::move(handler)](const failure& why) mutable {
                    complete(why, handler);
                }));
        } else {
            return once(move_only_function<void(failure, T)>(
                [handler = std::move(handler)](const failure& why, T value) mutable {
                    complete(why, handler, std::move(value));
                }));
        }
    }

    // ---- callbacks that take too long ----

    /// How long a callback may run before that is logged.
    void set_limit(std::chrono::nanoseconds limit) noexcept { limit_ = limit.count(); }

    /// Logs a callback that exceeds the limit, while it runs; once for each thread.
    void report_slow();

    /// For how long the callback that runs now has been running; the longer time of the two
    /// threads.
    [[nodiscard]] std::chrono::nanoseconds running_for() const noexcept;

private:
    using clock = loop::clock;

    struct thread {
        const char* runs;
        runtime::executor
            run;  ///< the callback thread's calls the user's executor, if there is one
        std::atomic<clock::rep> since{0};  ///< when the present callback began; 0 if none runs
        std::atomic<bool> reported{false};
    };

    void deliver(const log_line& line, std::int64_t session) const;
    void hand_over(thread& to, move_only_function<void()> code);
    void run(thread& here, move_only_function<void()> code) noexcept;
    void report_if_slow(thread& t);
    [[nodiscard]] std::chrono::nanoseconds running_for(const thread& t) const noexcept;

    /// What keep() has made.
    template <class T>
    struct kept {
        kept(std::shared_ptr<user_callbacks> c, T o) : by(std::move(c)), object(std::move(o)) {}

        kept(const kept&) = delete;
        kept& operator=(const kept&) = delete;

        ~kept() {
            // A stepped loop has only one thread.
            if (by->loop_->on_loop() && !by->loop_->stepped() && !is_empty(object)) {
                by->call([dropped = std::move(object)] {});
            }
        }

        const std::shared_ptr<user_callbacks> by;
        T object;
    };

    template <class T>
    [[nodiscard]] static bool is_empty(const T&) noexcept {
        return false;
    }

    [[nodiscard]] static bool is_empty(const std::exception_ptr& e) noexcept { return !e; }

    template <class F>
    [[nodiscard]] static bool is_empty(const std::function<F>& f) noexcept {
        return !f;
    }

    template <class F>
    [[nodiscard]] static bool is_empty(const move_only_function<F>& f) noexcept {
        return !f;
    }

    template <class Handler, class... Value>
    static void complete(const failure& why, Handler& handler, Value... value) {
        try {
            why.raise();
        } catch (const error& e) {
            handler(e, std::move(value)...);
            return;
        }
        handler(std::error_code(), std::move(value)...);
    }

    const std::shared_ptr<latchkey::loop> loop_;
    const bool logs_;
    std::atomic<bool> threw_ = false;  ///< a callback, and stderr has the line
    const std::string client_;         ///< its name, for the log
    log_function log_;                 // on the callback thread only
    std::atomic<std::chrono::nanoseconds::rep> limit_{0};
    std::optional<strand> users_;  ///< the user's executor
    thread callbacks_;
    thread stops_;
};

}  // namespace latchkey::inline v0
