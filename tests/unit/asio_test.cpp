#include <latchkey/asio.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 107700
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#endif
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using number = std::unique_ptr<int>;
using number_handler = move_only_function<void(std::error_code, number)>;

/// A call that another thread completes after a moment, as the callback thread does.
awaitable<number> answered_elsewhere(std::error_code ec, int result) {
    return awaitable<number>([=](const std::stop_token&, number_handler done) {
        std::thread([=, h = std::move(done)]() mutable {
            h(ec, std::make_unique<int>(result));
        }).detach();
    });
}

awaitable<void> answered_inside(std::error_code ec) {
    return awaitable<void>(
        [ec](const std::stop_token&, move_only_function<void(std::error_code)> done) { done(ec); });
}

awaitable<number> refused_at_once() {
    return awaitable<number>([](const std::stop_token&, const number_handler&) {
        throw error(errc::forked, "not here");
    });
}

/// A handler that runs on `io`.
template <class Handler>
auto on(boost::asio::io_context& io, Handler h) {
    return boost::asio::bind_executor(io, std::move(h));
}

/// A call that is open until the test calls `done`.
struct open_asio_call {
    awaitable<number> begin(std::stop_token users = {}) {
        return awaitable<number>(
            [this](std::stop_token s, number_handler h) {
                stop = std::move(s);
                done = std::move(h);
            },
            std::move(users));
    }

    std::stop_token stop;
    number_handler done;
};

TEST(Asio, AFutureGetsTheResultOrTheException) {
    EXPECT_EQ(*asio::async(answered_elsewhere({}, 7), boost::asio::use_future).get(), 7);
    asio::async(answered_inside({}), boost::asio::use_future).get();
    EXPECT_THROW(asio::async(answered_elsewhere(errc::closed, 0), boost::asio::use_future).get(),
                 error);
    EXPECT_THROW(asio::async(answered_inside(errc::closed), boost::asio::use_future).get(), error);
    EXPECT_THROW(asio::async(refused_at_once(), boost::asio::use_future).get(), error);
}

TEST(Asio, AHandlerRunsOnItsExecutorWhichHasWorkUntilThen) {
    boost::asio::io_context io;
    int got = 0;
    std::thread::id ran;
    asio::async(answered_elsewhere({}, 7), on(io, [&](std::error_code ec, number n) {
                    EXPECT_FALSE(ec);
                    got = *n;
                    ran = std::this_thread::get_id();
                }));
    io.run();  // returns when there is no more work
    EXPECT_EQ(got, 7);
    EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(Asio, AHandlerGetsACodeAndNeverInsideTheCall) {
    boost::asio::io_context io;
    std::error_code code;
    asio::async(answered_inside(errc::closed), on(io, [&](std::error_code ec) { code = ec; }));
    EXPECT_FALSE(code);
    io.run();
    EXPECT_EQ(code, errc::closed);
    io.restart();
    // A handler may be of a type that can only be moved.
    asio::async(refused_at_once(),
                on(io, [&, only = std::make_unique<int>(1)](std::error_code ec, const number&) {
                    code = ec;
                    EXPECT_EQ(*only, 1);
                }));
    io.run();
    EXPECT_EQ(code, errc::forked);
}

TEST(Asio, AnIoContextThatIsDestroyedDestroysTheHandler) {
    const auto witness = std::make_shared<int>(0);
    open_asio_call late;
    {
        boost::asio::io_context io;
        asio::async(late.begin(), on(io, [w = witness](std::error_code, const number&) {}));
        late.done({}, std::make_unique<int>(1));
        EXPECT_EQ(witness.use_count(), 2);
    }
    late.done = nullptr;
    EXPECT_EQ(witness.use_count(), 1);
}

#ifdef BOOST_ASIO_HAS_CO_AWAIT
boost::asio::awaitable<int> sum_of_two() {
    const number a = co_await asio::async(answered_elsewhere({}, 3), boost::asio::use_awaitable);
    const number b = co_await asio::async(answered_elsewhere({}, 4), boost::asio::use_awaitable);
    co_await asio::async(answered_inside({}), boost::asio::use_awaitable);
    co_return *a + *b;
}

boost::asio::awaitable<std::string> what_is_thrown() {
    try {
        static_cast<void>(co_await asio::async(refused_at_once(), boost::asio::use_awaitable));
    } catch (const error& e) {
        co_return e.what();
    }
    co_return "";
}

TEST(Asio, ItsOwnCoroutinesGetTheResultOrTheException) {
    boost::asio::io_context io;
    auto sum =
        boost::asio::co_spawn(boost::asio::make_strand(io), sum_of_two(), boost::asio::use_future);
    auto thrown = boost::asio::co_spawn(io, what_is_thrown(), boost::asio::use_future);
    io.run();
    EXPECT_EQ(sum.get(), 7);
    EXPECT_NE(thrown.get().find("not here"), std::string::npos);
}
#endif

TEST(Asio, TheCallersStopTokenReachesTheCall) {
    boost::asio::io_context io;
    std::stop_source stop;
    open_asio_call c;
    asio::async(c.begin(stop.get_token()), on(io, [](std::error_code, const number&) {}));
    stop.request_stop();
    EXPECT_TRUE(c.stop.stop_requested());
    c.done({}, nullptr);
    c.done = nullptr;
    EXPECT_EQ(io.run(), 1U);
}

#if BOOST_VERSION >= 107700
TEST(Asio, ItsCancellationStopsTheCall) {
    boost::asio::io_context io;
    boost::asio::cancellation_signal cancel;
    open_asio_call c;
    bool empty = false;
    asio::async(c.begin(),
                boost::asio::bind_cancellation_slot(
                    cancel.slot(),
                    on(io, [&](std::error_code ec, const number& n) { empty = !ec && !n; })));
    EXPECT_FALSE(c.stop.stop_requested());
    cancel.emit(boost::asio::cancellation_type::terminal);
    EXPECT_TRUE(c.stop.stop_requested());
    c.done({}, nullptr);
    io.run();
    EXPECT_TRUE(empty);
    cancel.emit(boost::asio::cancellation_type::terminal);  // nothing listens any more
}
#endif

}  // namespace
}  // namespace latchkey
