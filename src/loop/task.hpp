#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// A protocol written from top to bottom: a coroutine that runs on the loop, and that may be
/// dropped wherever it waits. Its locals are destroyed then, and nothing that it waited for reaches
/// it any more. It begins when it is awaited, or started as a `running_task`.
///
/// Rules, because the compilers that we support make mistakes outside of them:
/// * Await a named local, one `co_await` a statement, without a lambda or a braced temporary in it.
/// * What a coroutine calls must not destroy it. It ends with a value, and whoever started it acts.
/// * Parameters are values, or references to what lives longer than the coroutine.
/// An exception that leaves a coroutine ends the process, as one that leaves a task of the loop.
template <class T>
class [[nodiscard]] task {
public:
    struct promise_type;

    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}

    task& operator=(task&&) = delete;

    ~task() {
        if (frame_) {
            frame_.destroy();
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }

    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
        frame_.promise().awaiting = awaiting;
        return frame_;
    }

    T await_resume() { return std::move(*frame_.promise().value); }

private:
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

template <class T>
struct task<T>::promise_type {
    struct at_the_end {
        [[nodiscard]] bool await_ready() const noexcept { return false; }

        std::coroutine_handle<> await_suspend(
            std::coroutine_handle<promise_type> frame) const noexcept {
            return frame.promise().awaiting;
        }

        void await_resume() const noexcept {}
    };

    task get_return_object() noexcept {
        return task(std::coroutine_handle<promise_type>::from_promise(*this));
    }

    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }

    [[nodiscard]] at_the_end final_suspend() const noexcept { return {}; }

    template <class U>
    void return_value(U&& v) {
        value.emplace(std::forward<U>(v));
    }

    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }

    std::optional<T> value;
    std::coroutine_handle<> awaiting;
};

/// Runs one task at a time, and drops it when it is destroyed. On the loop only.
class running_task {
public:
    running_task() = default;
    running_task(const running_task&) = delete;
    running_task& operator=(const running_task&) = delete;

    ~running_task() { drop(); }

    /// Begins `t`, instead of one that is under way. `done(value)` is called when it has ended and
    /// is destroyed, perhaps inside this call; it may destroy this object, or start another task
    /// here.
    template <class T, class F>
    void start(task<T> t, F done) {
        drop();
        const auto frame = drive(std::move(t), std::move(done), *this).frame;
        frame_ = frame;
        frame.resume();
    }

    /// Not from inside of the task.
    void drop() noexcept {
        if (const auto frame = std::exchange(frame_, nullptr)) {
            frame.destroy();
        }
    }

private:
    struct driver {
        struct promise_type {
            driver get_return_object() noexcept {
                return {std::coroutine_handle<promise_type>::from_promise(*this)};
            }

            [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }

            [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }

            void return_void() const noexcept {}

            [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
        };

        std::coroutine_handle<promise_type> frame;
    };

    /// Destroys the frame, which is suspended, and then calls: what has ended takes no memory.
    template <class F, class T>
    struct last_call {
        F done;
        T value;
        running_task& of;

        [[nodiscard]] bool await_ready() const noexcept { return false; }

        void await_suspend(std::coroutine_handle<>) {
            F call = std::move(done);
            T with = std::move(value);
            of.drop();  // and this object with the frame
            call(std::move(with));
        }

        void await_resume() const noexcept {}
    };

    template <class T, class F>
    static driver drive(task<T> t, F done, running_task& of) {
        T value = co_await t;
        last_call<F, T> last{std::move(done), std::move(value), of};
        co_await last;
    }

    std::coroutine_handle<> frame_;
};

/// A value that one task waits for, and that something else sets: the answer to a request, the end
/// of a watch. On the loop only.
template <class T>
class oneshot {
public:
    oneshot() = default;
    oneshot(oneshot&&) noexcept = default;
    oneshot& operator=(oneshot&&) = delete;

    /// What sets it, once; without effect when the oneshot is gone. The task goes on inside that
    /// call.
    [[nodiscard]] auto setter() const {
        return [weak = std::weak_ptr(state_)](T value) {
            const auto receiver = weak.lock();
            if (!receiver || receiver->value) {
                return;
            }
            receiver->value.emplace(std::move(value));
            if (const auto waiting = std::exchange(receiver->waiting, nullptr)) {
                waiting.resume();
            }
        };
    }

    /// Expires when no task waits for the value any more.
    [[nodiscard]] std::weak_ptr<const void> alive() const { return state_; }

    [[nodiscard]] bool await_ready() const noexcept { return state_->value.has_value(); }

    void await_suspend(std::coroutine_handle<> waiting) const noexcept {
        state_->waiting = waiting;
    }

    T await_resume() const { return std::move(*state_->value); }

private:
    struct state {
        std::optional<T> value;
        std::coroutine_handle<> waiting;
    };

    std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// Lets a suspended task go on, once; without effect when the task is gone, or if there is none.
class resumption {
public:
    resumption() = default;

    explicit resumption(const std::shared_ptr<std::coroutine_handle<>>& waiting)
        : waiting_(waiting) {}

    /// The task may destroy this object.
    void operator()() const {
        if (const auto alive = waiting_.lock()) {
            if (const auto waiting = std::exchange(*alive, nullptr)) {
                waiting.resume();
            }
        }
    }

    [[nodiscard]] bool is_without_effect() const noexcept {
        const auto alive = waiting_.lock();
        return !alive || !*alive;
    }

private:
    std::weak_ptr<std::coroutine_handle<>> waiting_;
};

/// Waits for something that calls back, whatever it is: `begin(resumption)` is called when the task
/// is suspended. It keeps or posts the resumption, or calls it at once.
template <class Begin>
class [[nodiscard]] until_called_back {
public:
    explicit until_called_back(Begin begin) : begin_(std::move(begin)) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }

    void await_suspend(std::coroutine_handle<> waiting) {
        waiting_ = std::make_shared<std::coroutine_handle<>>(waiting);
        Begin begin = std::move(begin_);
        begin(resumption(waiting_));
    }

    void await_resume() const noexcept {}

    /// What begins it, for something else that waits for it.
    [[nodiscard]] Begin take() && { return std::move(begin_); }

private:
    Begin begin_;
    std::shared_ptr<std::coroutine_handle<>> waiting_;
};

/// For a task: until `by` is called.
[[nodiscard]] inline auto until_resumed(resumption& by) {
    return until_called_back([&by](resumption resume) { by = std::move(resume); });
}

/// Waits for the first of several things that call back.
template <class... Begin>
[[nodiscard]] auto first_of(until_called_back<Begin>... each) {
    return until_called_back(
        [... begin = std::move(each).take()](const resumption& resume) mutable {
            const auto unless_over = [&resume](auto& one) {
                if (!resume.is_without_effect()) {
                    one(resume);
                }
            };
            (unless_over(begin), ...);
        });
}

/// As until_called_back, unless it is ready: then the task goes on at once.
template <class Ready, class Begin>
class [[nodiscard]] until_called_back_unless : public until_called_back<Begin> {
public:
    until_called_back_unless(Ready ready, Begin begin)
        : until_called_back<Begin>(std::move(begin)), ready_(std::move(ready)) {}

    [[nodiscard]] bool await_ready() const noexcept { return ready_(); }

private:
    Ready ready_;
};

/// Tasks that wait for the same event. Those that were dropped meanwhile take no room for long. On
/// the loop only.
class waiting_tasks {
public:
    void add(resumption r) {
        if (waiting_.size() >= full_) {
            std::erase_if(waiting_, [](const resumption& w) { return w.is_without_effect(); });
            full_ = std::max(smallest, waiting_.size() * 2);
        }
        waiting_.push_back(std::move(r));
    }

    void resume_all() {
        full_ = smallest;
        for (const resumption& resume : std::exchange(waiting_, {})) {
            resume();
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

private:
    static constexpr std::size_t smallest = 64;

    std::vector<resumption> waiting_;
    std::size_t full_ = smallest;
};

/// Never: whoever started the task drops it, or starts another one.
inline constexpr std::suspend_always until_dropped{};

}  // namespace latchkey::inline v0
