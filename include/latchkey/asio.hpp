#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/awaitable_handler.hpp>
#include <latchkey/error.hpp>

#include <atomic>
#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 107700
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#endif

// For programs that use Boost.Asio. No other header of this library includes it.

namespace boost::asio {
template <class>
class basic_yield_context;
}

namespace latchkey::asio {

/// A completion token that is a handler. It must return nothing: other tokens can be called, too.
template <class Token, class... Result>
concept handler_of = requires(std::decay_t<Token> handler, std::error_code ec, Result... result) {
    { handler(ec, std::move(result)...) } -> std::same_as<void>;
};

/// A stackful coroutine of Asio, which gets its result as one value: older versions know no
/// std::exception_ptr there.
template <class Token>
inline constexpr bool is_yield = false;

template <class X>
inline constexpr bool is_yield<boost::asio::basic_yield_context<X>> = true;

template <class T>
struct yielded {
    std::optional<error> failed;
    typename awaitable_handler<T>::value_type value;
};

/// An awaitable call between its start and its handler. The inside of async().
template <class T, class Failure, class Handler>
class started_call : public std::enable_shared_from_this<started_call<T, Failure, Handler>> {
public:
    using value_type = typename awaitable_handler<T>::value_type;

    explicit started_call(Handler handler)
        : handler_(std::move(handler)),
          work_(boost::asio::make_work_guard(boost::asio::get_associated_executor(handler_))) {}

    void start(awaitable<T> call) {
        const auto self = this->shared_from_this();
        try {
            std::move(call).start(stop_token(),
                                  awaitable_handler<T>([self](const error* e, value_type value) {
                                      self->complete(failure_of(e), std::move(value));
                                  }));
        } catch (const error& e) {
            complete(failure_of(&e), {});
        }
    }

private:
    /// A thread that is inside boost::asio::post().
    struct posting {
        void end() {
            ended = true;
            ended.notify_one();
        }

        void wait() const {
            if (std::this_thread::get_id() != thread) {
                ended.wait(false);
            }
        }

        const std::thread::id thread = std::this_thread::get_id();
        std::atomic<bool> ended{false};
    };

    [[nodiscard]] static Failure failure_of(const error* e) {
        if (e == nullptr) {
            return {};
        }
        if constexpr (std::is_same_v<Failure, std::error_code>) {
            return e->code();
        } else if constexpr (std::is_same_v<Failure, std::optional<error>>) {
            return *e;
        } else {
            return std::make_exception_ptr(*e);
        }
    }

    /// A token that Asio's cancellation requests, where this version of Asio has one.
    [[nodiscard]] std::stop_token stop_token() {
#if BOOST_VERSION >= 107700
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler_);
            slot.is_connected()) {
            std::stop_source stop;
            slot.assign([stop](boost::asio::cancellation_type type) mutable {
                if (type != boost::asio::cancellation_type::none) {
                    stop.request_stop();
                }
            });
            return stop.get_token();
        }
#endif
        return {};
    }

    /// What the executor has afterwards is all that is left of the call. The handler may be the
    /// last that a program waits for before it destroys the executor. So it runs when this thread
    /// is done with the executor.
    void complete(Failure failure, value_type value) {
        const auto here = std::make_shared<posting>();
        {
            const auto executor = work_.get_executor();
            boost::asio::post(executor,
                              [here,
                               handler = std::move(handler_),
                               work = std::move(work_),
                               failure = std::move(failure),
                               value = std::move(value)]() mutable {
                                  here->wait();
                                  pass(handler, std::move(failure), std::move(value));
                              });
        }
        here->end();
    }

    static void pass(Handler& handler, Failure failure, value_type value) {
#if BOOST_VERSION >= 107700
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler);
            slot.is_connected()) {
            slot.clear();
        }
#endif
        if constexpr (std::is_same_v<Failure, std::optional<error>>) {
            std::move(handler)(
                std::make_shared<yielded<T>>(yielded<T>{std::move(failure), std::move(value)}));
        } else if constexpr (std::is_void_v<T>) {
            std::move(handler)(std::move(failure));
        } else {
            std::move(handler)(std::move(failure), std::move(value));
        }
    }

    using executor_type = boost::asio::associated_executor_t<Handler>;

    Handler handler_;
    boost::asio::executor_work_guard<executor_type> work_;
};

/// Starts a call of this library as an asynchronous operation of Boost.Asio:
///
///     hold h = co_await latchkey::asio::async(m.acquire_async(30s), boost::asio::use_awaitable);
///     std::future<hold> f = latchkey::asio::async(m.acquire_async(), boost::asio::use_future);
///     latchkey::asio::async(m.acquire_async(), [](std::error_code ec, hold h) { ... });
///
/// - Completes on the executor that is associated with the token, never inside this call. Until
///   then the executor has outstanding work, and must exist. Blocking calls of this library are
///   allowed there.
/// - Errors: a handler, which must return nothing, gets a std::error_code. All other tokens get a
///   std::exception_ptr, so use_awaitable and use_future throw latchkey::error. So does a
///   boost::asio::yield_context.
/// - Cancel: the stop token of the call's options. With Boost 1.77 or newer also the cancellation
///   slot of the token, whose request has the same result: for an acquire an empty hold, without
///   an error.
template <class T, class CompletionToken>
auto async(awaitable<T> call, CompletionToken&& token) {
    constexpr bool is_handler =
        std::is_void_v<T> ? handler_of<CompletionToken>
                          : handler_of<CompletionToken, typename awaitable_handler<T>::value_type>;
    constexpr bool yields = is_yield<std::decay_t<CompletionToken>>;
    using thrown = std::conditional_t<yields, std::optional<error>, std::exception_ptr>;
    using failure = std::conditional_t<is_handler, std::error_code, thrown>;
    const auto begin = [](auto handler, awaitable<T> started) {
        using made = started_call<T, failure, decltype(handler)>;
        std::make_shared<made>(std::move(handler))->start(std::move(started));
    };
    if constexpr (yields) {
        const auto result =
            boost::asio::async_initiate<CompletionToken, void(std::shared_ptr<yielded<T>>)>(
                begin, token, std::move(call));
        if (result->failed) {
            throw error(*result->failed);
        }
        if constexpr (!std::is_void_v<T>) {
            return T(std::move(result->value));
        }
    } else if constexpr (std::is_void_v<T>) {
        return boost::asio::async_initiate<CompletionToken, void(failure)>(
            begin, token, std::move(call));
    } else {
        return boost::asio::async_initiate<CompletionToken, void(failure, T)>(
            begin, token, std::move(call));
    }
}

}  // namespace latchkey::asio
