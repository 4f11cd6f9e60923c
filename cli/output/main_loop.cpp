#include "output/main_loop.hpp"

#include "output/exit_status.hpp"
#include "output/service_manager.hpp"

#include <csignal>
#include <exception>
#include <list>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

}  // namespace

struct main_loop::engine {
    boost::asio::io_context io;
    std::list<stream_descriptor> descriptors;

    ~engine() {
        for (auto& d : descriptors) {
            d.release();  // their owners close them
        }
    }

    void await(stream_descriptor& d, main_loop& loop, const task& t) {
        d.async_wait(stream_descriptor::wait_read, [this, &d, &loop, t](const error_code& ec) {
            if (!ec) {
                loop.dispatch(t);
                await(d, loop, t);
            }
        });
    }
};

main_loop::main_loop(const signals& arrived)
    : arrived_(arrived), engine_(std::make_unique<engine>()) {
    on_readable(arrived_.fd(), [] {});
    for (const int fd : watchdog_descriptors()) {
        on_readable(fd, serve_watchdog);
    }
}

main_loop::~main_loop() = default;

int main_loop::run() {
    while (!status_) {
        engine_->io.run_one();
    }
    return *status_;
}

int main_loop::run_until_ended(const status_output& output) {
    on_signal([&](int signal) {
        if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) {
            output.event("ended", fmt::format("ended by SIG{}", signal_name(signal)));
            finish(exit_status::success);
        }
    });
    return run();
}

bool main_loop::take_signals() {
    for (int signal = arrived_.read(); signal != 0 && !status_; signal = arrived_.read()) {
        on_signal_(signal);
    }
    return !status_;
}

void main_loop::dispatch(const task& t) {
    if (take_signals()) {
        t();
    }
}

void main_loop::post(task t) {
    boost::asio::post(engine_->io, [this, t = std::move(t)] { dispatch(t); });
}

void main_loop::on_readable(int descriptor, task t) {
    engine_->await(engine_->descriptors.emplace_back(engine_->io, descriptor), *this, t);
}

boost::asio::io_context& main_loop::io() noexcept {
    return engine_->io;
}

struct loop_timer::waiting {
    boost::asio::steady_timer timer;
};

loop_timer::loop_timer(main_loop& loop)
    : loop_(loop), waiting_(new waiting{boost::asio::steady_timer(loop.io())}) {}

loop_timer::~loop_timer() = default;

void loop_timer::start(std::chrono::nanoseconds after, main_loop::task t) {
    set_ = std::make_shared<main_loop::task>(std::move(t));
    waiting_->timer.expires_after(after);
    waiting_->timer.async_wait([&loop = loop_, weak = std::weak_ptr(set_)](const error_code&) {
        if (const auto set = weak.lock()) {
            loop.dispatch(*set);
        }
    });
}

void background_call::start(work w) {
    thread_ = std::jthread([&loop = loop_, w = std::move(w)](const std::stop_token& stop) {
        try {
            loop.post(w(stop));
        } catch (...) {
            loop.post([failure = std::current_exception()] { std::rethrow_exception(failure); });
        }
    });
}

}  // namespace latchkey::cli
