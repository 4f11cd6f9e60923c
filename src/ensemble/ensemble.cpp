#include <latchkey/error.hpp>

#include "ensemble/ensemble_session.hpp"
#include "ensemble/ensemble_state.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::testing {
namespace {

using model::cluster;
using model::fault_plan;

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
    if (how.mode == ensemble::mode::threaded) {
        // So it is newer than everything that clients remember of earlier servers on the same
        // ports.
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        s.first_zxid = std::chrono::floor<std::chrono::seconds>(now).count() << 32U;
        s.first_session = std::chrono::floor<std::chrono::milliseconds>(now).count() << 12U;
    }
    return s;
}

void check_clock_rate(double rate) {
    if (!(rate >= 0.5 && rate <= 2)) {
        throw error(errc::invalid_argument, "ensemble: a clock's rate must be 0.5 to 2");
    }
}

fault_plan::rule rule_for(ensemble::operation what, std::int64_t session, int count) {
    fault_plan::rule r;
    r.session = session;
    r.count = count;
    switch (what) {
        case ensemble::operation::create:
            r.kind = request::kind::create;
            break;
        case ensemble::operation::remove:
            r.kind = request::kind::remove;
            break;
        case ensemble::operation::get:
            r.kind = request::kind::get;
            break;
        case ensemble::operation::exists:
            r.kind = request::kind::exists;
            break;
        case ensemble::operation::children:
            r.kind = request::kind::children;
            break;
        case ensemble::operation::set:
            r.kind = request::kind::set;
            break;
        case ensemble::operation::multi:
            r.kind = request::kind::multi;
            break;
        case ensemble::operation::sync:
            r.kind = request::kind::sync;
            break;
        case ensemble::operation::any:
            r.any_kind = true;
            break;
    }
    return r;
}

}  // namespace

ensemble::state::state(const options& how)
    : loop(virtual_loop::make(
          how.mode == mode::stepped ? virtual_loop::mode::stepped : virtual_loop::mode::threaded,
          how.seed)) {
    const model::settings settings = settings_of(how);
    loop->call([&] {
        all = std::make_shared<cluster>(settings, loop);
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

ensemble::ensemble() : ensemble(options{}) {}

ensemble::ensemble(const options& how) : state_(std::make_unique<state>(how)) {}

ensemble::~ensemble() = default;

std::string ensemble::servers() const {
    std::string all;
    for (int i = 0; i < state_->all->size(); ++i) {
        all += (i == 0 ? "server-" : ",server-") + std::to_string(i) + ":2181";
    }
    return all;
}

ensemble::duration ensemble::now() const noexcept {
    return state_->loop->now().time_since_epoch();
}

bool ensemble::step() {
    return state_->loop->step();
}

void ensemble::run_for(duration d) {
    state_->loop->run_for(d);
}

bool ensemble::run_until(const std::function<bool()>& done, duration limit) {
    return state_->loop->run_until(done, limit);
}

void ensemble::advance(duration d) {
    state_->loop->advance(d);
}

std::uint64_t ensemble::trace() const {
    return state_->on_loop([](cluster& all) { return all.loop().trace(); });
}

std::string ensemble::serve(const std::string& address, std::uint16_t port) {
    if (state_->loop->stepped()) {
        throw error(errc::invalid_argument,
                    "ensemble: a stepped one cannot serve(): its clock does not run by itself");
    }
    return state_->ports
        .emplace_back(
            std::make_unique<model::port_server>(state_->loop, state_->all, address, port))
        ->connect_string();
}

// Clients.

std::vector<ensemble::session_info> ensemble::sessions() const {
    return state_->on_loop([](cluster& all) { return all.sessions(); });
}

void ensemble::expire(std::int64_t session) {
    state_->operate([&](model::leader& l) { l.expire(session); });
}

void ensemble::cut(std::int64_t session) {
    state_->on_loop([&](cluster& all) { all.cut(session); });
}

void ensemble::move(std::int64_t session, int server) {
    state_->on_loop([&](cluster& all) {
        if (model::ensemble_session* const client = all.client_of(session)) {
            client->go_to(all.at(server).index());
        }
    });
}

void ensemble::suspend(std::int64_t session) {
    state_->on_loop([&](cluster& all) {
        if (const auto process = all.process_of(session)) {
            process->refused = true;
            for (model::ensemble_session* const client : process->sessions) {
                client->break_connection();
            }
        }
    });
}

void ensemble::black_hole(std::int64_t session) {
    state_->on_loop([&](cluster& all) {
        if (const auto process = all.process_of(session)) {
            all.black_hole(*process, true);
        }
    });
}

void ensemble::confine(std::int64_t session, int server) {
    state_->on_loop([&](cluster& all) {
        if (const auto process = all.process_of(session)) {
            all.confine(*process, server);
        }
    });
}

void ensemble::set_clock_rate(std::int64_t session, double rate) {
    check_clock_rate(rate);
    state_->on_loop([&](cluster& all) {
        if (const auto process = all.process_of(session)) {
            process->loop->set_clock_rate(rate);
        }
    });
}

void ensemble::pause(std::int64_t session) {
    state_->on_loop([&](cluster& all) {
        if (const auto process = all.process_of(session)) {
            process->loop->pause();
        }
    });
}

void ensemble::resume(std::int64_t session) {
    state_->on_loop([&](cluster& all) {
        if (const auto process = all.process_of(session)) {
            process->refused = false;
            process->only_server = -1;
            all.black_hole(*process, false);
            process->loop->resume();
        }
    });
}

void ensemble::replace(std::int64_t session) {
    state_->on_loop([&](cluster& all) { all.replace(session); });
}

// Servers.

int ensemble::leader() const {
    return state_->on_loop([](cluster& all) { return all.leading_index(); });
}

void ensemble::stop_server(int index) {
    state_->on_loop([&](cluster& all) { all.stop(index); });
}

void ensemble::start_server(int index) {
    state_->on_loop([&](cluster& all) { all.start(index); });
}

void ensemble::pause_server(int index) {
    state_->on_loop([&](cluster& all) { all.pause(index); });
}

void ensemble::resume_server(int index) {
    state_->on_loop([&](cluster& all) { all.resume(index); });
}

void ensemble::isolate(int index) {
    state_->on_loop([&](cluster& all) { all.isolate(index, true); });
}

void ensemble::heal(int index) {
    state_->on_loop([&](cluster& all) { all.isolate(index, false); });
}

void ensemble::lag(int index, duration by) {
    state_->on_loop([&](cluster& all) { all.lag(index, by); });
}

void ensemble::set_server_clock_rate(int index, double rate) {
    check_clock_rate(rate);
    state_->on_loop([&](cluster& all) { all.at(index).process().set_clock_rate(rate); });
}

// Requests.

void ensemble::fail_next(operation what, when w, std::int64_t session, int count, int code) {
    fault_plan::rule r = rule_for(what, session, count);
    r.fate = {fault_plan::fault::cut, w == when::after, static_cast<result_code>(code)};
    state_->on_loop([&](cluster& all) { all.faults().add(r); });
}

void ensemble::refuse_next(operation what, int code, std::int64_t session, int count, when w) {
    fault_plan::rule r = rule_for(what, session, count);
    r.fate = {fault_plan::fault::refusal, w == when::after, static_cast<result_code>(code)};
    state_->on_loop([&](cluster& all) { all.faults().add(r); });
}

std::size_t ensemble::faults_to_come() const {
    return state_->on_loop([](cluster& all) { return all.faults().to_come(); });
}

void ensemble::inject(const faults& rates) {
    state_->on_loop([&](cluster&) { state_->trouble->inject(rates); });
}

// What the servers counted.

counters ensemble::count() const {
    return state_->on_loop([](cluster& all) { return all.count(); });
}

counters ensemble::count(std::int64_t session) const {
    return state_->on_loop([&](cluster& all) { return all.count(session); });
}

void ensemble::reset_counters() {
    state_->on_loop([](cluster& all) { all.reset_counters(); });
}

std::size_t ensemble::open_watches() const {
    return state_->on_loop([](cluster& all) { return all.open_watches(); });
}

}  // namespace latchkey::testing
