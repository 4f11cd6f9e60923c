#include <latchkey/error.hpp>

#include "ensemble/ensemble_session.hpp"
#include "ensemble/ensemble_state.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace latchkey::inline v0::testing {
namespace {

using model::cluster;
using model::fault_plan;

void check_clock_rate(double rate) {
    if (!(rate >= 0.5 && rate <= 2)) {
        throw error(errc::invalid_argument, "ensemble: a clock's rate must be 0.5 to 2");
    }
}

fault_plan::rule rule_for(ensemble::request_kind what, std::int64_t session, int count) {
    fault_plan::rule r;
    r.session = session;
    r.count = count;
    switch (what) {
        case ensemble::request_kind::create:
            r.kind = request::kind::create;
            break;
        case ensemble::request_kind::remove:
            r.kind = request::kind::remove;
            break;
        case ensemble::request_kind::get:
            r.kind = request::kind::get;
            break;
        case ensemble::request_kind::exists:
            r.kind = request::kind::exists;
            break;
        case ensemble::request_kind::children:
            r.kind = request::kind::children;
            break;
        case ensemble::request_kind::set:
            r.kind = request::kind::set;
            break;
        case ensemble::request_kind::multi:
            r.kind = request::kind::multi;
            break;
        case ensemble::request_kind::sync:
            r.kind = request::kind::sync;
            break;
        case ensemble::request_kind::any:
            r.any_kind = true;
            break;
    }
    return r;
}

[[noreturn]] void throw_refused(const std::string& path, result_code code) {
    const std::string what = "ensemble: " + path;
    switch (code) {
        case result_code::no_node:
            throw error(errc::no_such_znode, what);
        case result_code::node_exists:
            throw error(errc::znode_exists, what);
        case result_code::not_empty:
            throw error(errc::not_empty, what);
        case result_code::no_children_for_ephemerals:
            throw error(errc::ephemeral_parent, what);
        default:
            throw error(errc::invalid_argument, what);
    }
}

reply demand(model::leader& l, const request& r) {
    reply answer = l.operate(r);
    if (!answer.ok()) {
        throw_refused(r.path, answer.code);
    }
    return answer;
}

const model::znode& existing(model::leader& l, const std::string& path) {
    const model::znode* const node = l.proposed().find(path);
    if (node == nullptr) {
        throw_refused(path, result_code::no_node);
    }
    return *node;
}

}  // namespace

ensemble::ensemble() : ensemble(options{}) {}

ensemble::ensemble(const options& how) : state_(std::make_unique<state>(how)) {}

ensemble::~ensemble() {
    if (state_->loop->forked()) {
        static_cast<void>(state_.release());  // NOLINT: its threads are in the parent
    }
}

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
    state_->loop->check_not_forked();
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

// Znodes.

std::string ensemble::create(const std::string& path, const std::string& data) {
    std::string created;
    state_->operate([&](model::leader& l) {
        const request r = request::create(path, data, create_mode::persistent, open_unsafe_acl());
        created = demand(l, r).path;
    });
    return created;
}

void ensemble::remove(const std::string& path) {
    state_->operate([&](model::leader& l) { demand(l, request::remove(path)); });
}

void ensemble::set(const std::string& path, const std::string& data) {
    state_->operate([&](model::leader& l) { demand(l, request::set(path, data)); });
}

std::optional<ensemble::znode> ensemble::get(const std::string& path) const {
    return state_->on_loop([&](model::cluster& all) -> std::optional<znode> {
        model::leader* const l = all.leading();
        const model::znode* const node = l == nullptr ? nullptr : l->proposed().find(path);
        if (node == nullptr) {
            return std::nullopt;
        }
        const server_stat stat = node->stat();
        return znode{
            node->data, stat.czxid, stat.mzxid, stat.ephemeral_owner, stat.version, stat.cversion};
    });
}

bool ensemble::exists(const std::string& path) const {
    return get(path).has_value();
}

std::vector<std::string> ensemble::children(const std::string& path) const {
    return state_->on_loop([&](model::cluster& all) {
        model::leader* const l = all.leading();
        std::vector<std::string> names =
            l == nullptr ? std::vector<std::string>{} : l->proposed().children(path);
        std::sort(names.begin(), names.end());
        return names;
    });
}

void ensemble::set_acl(const std::string& path, const acl& access) {
    state_->operate([&](model::leader& l) {
        static_cast<void>(existing(l, path));
        model::change c;
        c.what = model::change::kind::set_acl;
        c.path = path;
        c.access = std::make_shared<const acl>(access);
        l.operate(std::move(c));
    });
}

void ensemble::set_sequence(const std::string& path, std::int32_t next) {
    state_->operate([&](model::leader& l) {
        static_cast<void>(existing(l, path));
        model::change c;
        c.what = model::change::kind::set_counter;
        c.path = path;
        c.number = next;
        l.operate(std::move(c));
    });
}

void ensemble::reap_containers() {
    state_->operate([](model::leader& l) { l.reap_containers(); });
}

// Requests.

void ensemble::fail_next(request_kind what, when w, std::int64_t session, int count, int code) {
    fault_plan::rule r = rule_for(what, session, count);
    r.fate = {fault_plan::fault::cut, w == when::after, static_cast<result_code>(code)};
    state_->on_loop([&](cluster& all) { all.faults().add(r); });
}

void ensemble::refuse_next(request_kind what, int code, std::int64_t session, int count, when w) {
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
    return state_->on_loop([](cluster& all) { return all.counted().total(); });
}

counters ensemble::count(std::int64_t session) const {
    return state_->on_loop([&](cluster& all) { return all.counted().of(session); });
}

void ensemble::reset_counters() {
    state_->on_loop([](cluster& all) { all.counted().reset(); });
}

std::size_t ensemble::open_watches() const {
    return state_->on_loop([](cluster& all) { return all.open_watches(); });
}

}  // namespace latchkey::inline v0::testing
