#include "ensemble/ensemble_state.hpp"

#include <latchkey/error.hpp>

#include <algorithm>
#include <chrono>
#include <exception>

namespace latchkey::inline v0::testing {
namespace {

/// A zxid that increases by a million a second, with small epochs as a real ensemble has.
std::int64_t zxid_at(std::chrono::system_clock::duration now) {
    const auto hour = std::chrono::floor<std::chrono::hours>(now);
    return (std::int64_t{hour.count()} << 32U) +
           std::chrono::floor<std::chrono::microseconds>(now - hour).count();
}

model::settings settings_of(const ensemble::options& how) {
    if (how.servers < 1 || how.servers > 99) {
        throw error(errc::invalid_argument, "ensemble: servers must be 1 to 99");
    }
    if (how.tick < std::chrono::milliseconds(1)) {
        throw error(errc::invalid_argument, "ensemble: tick must be at least a millisecond");
    }
    model::settings s;
    s.servers = how.servers;
    s.one_way = how.one_way;
    s.jitter = how.jitter;
    s.between_servers = how.between_servers;
    s.tick = how.tick;
    s.min_timeout = how.min_session_timeout.count() > 0 ? how.min_session_timeout : how.tick * 2;
    s.max_timeout = how.max_session_timeout.count() > 0 ? how.max_session_timeout : how.tick * 20;
    s.max_timeout = std::max(s.min_timeout, s.max_timeout);
    s.sync_limit = how.sync_limit;
    s.election = how.election;
    s.container_interval = how.container_interval;
    s.max_request = how.max_request;
    s.exists_needs_read = how.exists_needs_read;
    if (how.mode == ensemble::mode::threaded) {
        // So it is newer than everything that clients remember of earlier servers on the same
        // ports.
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        s.first_zxid = zxid_at(now);
        s.first_session = std::chrono::floor<std::chrono::milliseconds>(now).count() << 12U;
    }
    return s;
}

}  // namespace

ensemble::state::state(const options& how)
    : loop(virtual_loop::make(
          how.mode == mode::stepped ? virtual_loop::mode::stepped : virtual_loop::mode::threaded,
          how.seed)) {
    const model::settings settings = settings_of(how);
    loop->call([&] {
        all = std::make_shared<model::cluster>(settings, loop);
        trouble = std::make_unique<model::nemesis>(*all);
    });
}

ensemble::state::~state() {
    ports.clear();
    loop->call([this] {
        trouble = nullptr;
        all->shut_down();
    });
    if (loop->stepped()) {
        end_clients();
        loop->abandon();
    }
}

void ensemble::state::end_clients() {
    clients->silent = true;
    for (const auto& close : clients->close) {
        close();
    }
    // Longer than a session waits for the answer to its close request.
    loop->run_for(std::chrono::seconds(2));
}

void ensemble::state::operate(const std::function<void(model::leader&)>& f) {
    std::exception_ptr failed;
    std::int64_t zxid = 0;
    loop->call([&] {
        try {
            model::leader* const leader = all->leading();
            if (leader == nullptr) {
                throw error(errc::unreachable, "ensemble: no server leads");
            }
            f(*leader);
            zxid = leader->last_zxid();
        } catch (...) {
            failed = std::current_exception();
        }
    });
    if (failed) {
        std::rethrow_exception(failed);
    }
    if (!loop->stepped() && !loop->on_loop()) {
        loop->run_until(
            [&] { return on_loop([&](model::cluster& c) { return c.everywhere(zxid); }); },
            std::chrono::seconds(10));
    }
}

}  // namespace latchkey::inline v0::testing
