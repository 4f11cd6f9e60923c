#include "simulation.hpp"

#include "drawn_request.hpp"
#include "ensemble/ensemble_access.hpp"
#include "ensemble/observer.hpp"
#include "name_service.hpp"
#include "network.hpp"
#include "user.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <string>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;
using testing::ensemble_access;

/// After the farewell of a session nothing may follow on its connection.
class farewells final : public model::observer {
public:
    explicit farewells(adapter_stage& stage) : stage_(stage) {}

    void opened(std::int64_t, const model::client_process&) override {}

    model::fault_plan::verdict received(const model::connection& c,
                                        const model::packet& p) override {
        if (p.what == model::packet::kind::close) {
            ended_[c.session] = &c;
        } else if (const auto end = ended_.find(c.session);
                   end != ended_.end() && end->second == &c) {
            stage_.broken("A12", "a request after the end of its session");
        }
        return {};
    }

    void answering(const model::connection&, const request&, result_code) override {}

    void committed(const model::transaction&) override {}

    void notified(const model::connection&, const std::string&, bool) override {}

private:
    adapter_stage& stage_;
    std::map<std::int64_t, const model::connection*> ended_;
};

class adapter_simulation {
public:
    adapter_simulation(std::uint64_t seed, std::ostream* tale)
        : survivable_(is_survivable(seed)),
          servers_(options(seed)),
          net_(servers_, seed * 3 + 1),
          names_(ensemble_access::loop_of(servers_), net_, seed),
          stage_{.servers = servers_,
                 .net = net_,
                 .random = model::random_source(seed * 3 + 2),
                 .result = result_,
                 .tale = tale,
                 .names = names_},
          farewells_(stage_) {
        ensemble_access::cluster_of(servers_).show(&farewells_);
        net_.too_large = [this](std::size_t length) {
            stage_.broken("A13", "a request of " + std::to_string(length) + " bytes is sent");
        };
        net_.believed = [this] {
            stage_.broken("A15", "a wrong frame does not end the connection");
        };
    }

    ~adapter_simulation() {
        users_.clear();
        ensemble_access::cluster_of(servers_).show(nullptr);
    }

    adapter_run run() {
        servers_.run_for(1s);
        prepare();
        draw_kind();
        const int count = 1 + static_cast<int>(stage_.random.below(3));
        for (int i = 0; i < count; ++i) {
            users_.push_back(std::make_unique<adapter_user>(stage_, i, timeout));
        }
        if (survivable_) {
            stage_.survivable = true;
            run_until([this] { return everybody(&adapter_user::connected); }, timeout);
            net_.swallow(0);
        } else {
            draw_weather();
        }
        next_fault();
        run_for(10s + stage_.random.below(10) * 1s);
        heal();
        run_until([this] { return everybody(&adapter_user::settled); }, 2s);
        stage_.broken_if(!stage_.named && !everybody(&adapter_user::settled),
                         "A10",
                         "a session that lives is not connected soon");
        // Before a first session pauses grow, and an attempt at an address of before takes its
        // time.
        const auto most = stage_.named ? 12s : timeout + 2s;
        run_until([this] { return everybody(&adapter_user::connected); }, most);
        stage_.broken_if(!everybody(&adapter_user::connected),
                         "A10",
                         "not connected long after the servers are well again");
        run_for(1s);
        each(&adapter_user::rest);
        run_until([this] { return everybody(&adapter_user::idle); }, timeout * 2);
        stage_.broken_if(!everybody(&adapter_user::idle), "A1", "a request that is never answered");
        run_for(1s);
        if (stage_.chance(20)) {
            stage_.quiet = true;
            run_for(timeout * 2);
            stage_.quiet = false;
        }
        each(&adapter_user::note_changes);
        run_for(20ms);
        each(&adapter_user::check_watches);
        if (watch_many_) {
            check_watches_kept();
        }
        each(&adapter_user::close);
        run_until([this] { return everybody(&adapter_user::over); }, 2s);
        check_ends();
        run_for(1s);
        each(&adapter_user::check_memory);
        result_.trace = servers_.trace();
        return result_;
    }

private:
    static constexpr std::chrono::milliseconds timeout{3000};

    /// A quarter of all runs.
    static bool is_survivable(std::uint64_t seed) { return seed % 4 == 0; }

    static ensemble::options options(std::uint64_t seed) {
        ensemble::options how;
        how.mode = ensemble::mode::stepped;
        how.seed = seed;
        how.servers = static_cast<int>(is_survivable(seed) ? 2 + seed / 4 % 2 : 1 + seed % 3);
        how.one_way = 0ns;
        how.between_servers = 200us;
        how.jitter = 100us;
        how.tick = 500ms;
        return how;
    }

    void draw_kind() {
        stage_.named = !survivable_ && stage_.chance(40);
        stage_.large = stage_.chance(10);
        watch_many_ = stage_.chance(15);
        if (stage_.named && stage_.chance(50)) {
            names_.fail_for(stage_.random.below(12) * 1s);
        }
        if (watch_many_) {
            servers_.create("/many");
        }
        for (int i = 0; i < adapter_user::many && watch_many_; ++i) {
            servers_.create("/many/i" + std::to_string(i), "/many/i" + std::to_string(i) + "#");
        }
    }

    void check_watches_kept() {
        each(&adapter_user::watch_many);
        run_until([this] { return everybody(&adapter_user::idle); }, timeout);
        each(&adapter_user::check_watches_kept);
    }

    void check_ends() {
        stage_.broken_if(!everybody(&adapter_user::over),
                         "A12",
                         "a session that is not closed within two seconds");
        model::leader* const l = ensemble_access::cluster_of(servers_).leading();
        for (const auto& u : users_) {
            stage_.broken_if(u->id() != 0 && l != nullptr && l->sessions().alive(u->id()),
                             "A12",
                             "a session that was closed lives on");
        }
    }

    void prepare() {
        for (int d = 0; d < adapter_znodes::directories; ++d) {
            const std::string directory = "/d" + std::to_string(d);
            servers_.create(directory, directory + "#0");
            for (int i = 0; i < adapter_znodes::items; ++i) {
                const std::string path = directory + "/i" + std::to_string(i);
                servers_.create(path, path + "#0");
            }
        }
        servers_.run_for(1s);
    }

    template <class Done>
    bool run_until(Done done, std::chrono::nanoseconds limit) {
        const auto end = servers_.now() + limit;
        auto now = servers_.now();
        int steps = 0;
        while (!done() && result_.violations.empty()) {
            net_.pump();
            if (servers_.now() >= end || !servers_.step()) {
                return done();
            }
            steps = now == servers_.now() ? steps + 1 : 0;
            now = servers_.now();
            stage_.broken_if(steps > 100'000, "A11", "the loop spins");
        }
        return true;
    }

    void each(void (adapter_user::*act)()) const {
        for (const auto& u : users_) {
            (*u.*act)();
        }
    }

    void run_for(std::chrono::nanoseconds time) {
        run_until([] { return false; }, time);
    }

    [[nodiscard]] bool everybody(bool (adapter_user::*is)() const) const {
        return std::all_of(
            users_.begin(), users_.end(), [is](const auto& u) { return (*u.*is)(); });
    }

    void draw_weather() {
        network::weather w;
        w.refused = stage_.chance(30) ? 50 : 5;
        w.swallowed = stage_.chance(30) ? 40 : 2;
        w.slow = stage_.chance(30) ? 60 : 5;
        w.cut = stage_.chance(30) ? 50 : 3;
        w.late_cut = stage_.chance(50) ? 60 : 0;
        w.garbled = stage_.chance(20) ? 30 : 0;
        w.jitter = stage_.chance(30) ? 20ms : 300us;
        net_.set(w);
    }

    void next_fault() {
        fault_.start(std::chrono::milliseconds(stage_.random.below(800)), [this] {
            if (stage_.faults) {
                next_fault();
                strike();
            }
        });
    }

    /// Runs `end` after a while.
    void later(std::function<void()> end) {
        auto& l = ensemble_access::loop_of(servers_);
        l.start_timer(l.now() + std::chrono::milliseconds(stage_.random.below(4000)),
                      [end = std::move(end), here = std::weak_ptr(here_)] {
                          if (!here.expired()) {
                              end();
                          }
                      });
    }

    void strike() {
        const int server =
            static_cast<int>(stage_.random.below(static_cast<std::uint64_t>(servers_count())));
        const std::size_t link = stage_.random.below(net_.connections() + 1);
        adapter_user& user = *users_[stage_.random.below(users_.size())];
        switch (survivable_ ? 0 : stage_.random.below(stage_.named ? 11 : 9)) {
            case 0:
                stage_.tell("cut");
                return net_.cut(link);
            case 1:
                stage_.tell("stall");
                net_.stall(link, stage_.chance(70), stage_.chance(70));
                return later([this] { net_.end_stalls(); });
            case 2:
                stage_.tell("server " + std::to_string(server) + " stops");
                servers_.stop_server(server);
                return later([this, server] { servers_.start_server(server); });
            case 3:
                stage_.tell("server " + std::to_string(server) + " is cut off");
                servers_.isolate(server);
                return later([this, server] { servers_.heal(server); });
            case 4:
                servers_.lag(server, std::chrono::milliseconds(stage_.random.below(500)));
                return later([this, server] { servers_.lag(server, 0ns); });
            case 5:
                stage_.tell("server " + std::to_string(server) + " stands still");
                servers_.pause_server(server);
                return later([this, server] { servers_.resume_server(server); });
            case 6:
                stage_.tell("a program stands still");
                user.process()->pause();
                return later([stopped = user.process()] { stopped->resume(); });
            case 7:
                if (stage_.chance(20) && user.id() != 0 && servers_.leader() >= 0) {
                    stage_.tell("the servers end a session");
                    servers_.expire(user.id());
                }
                return;
            case 8:
                return draw_weather();
            case 9:
                stage_.tell("names are unreliable");
                return names_.be_unreliable();
            default:
                stage_.tell("the servers move");
                names_.be_unreliable();
                net_.move();
                return net_.cut(link);
        }
    }

    void heal() {
        stage_.tell("all is well from now on");
        stage_.faults = false;
        fault_.cancel();
        net_.set({});
        for (int i = 0; i < servers_count(); ++i) {
            servers_.resume_server(i);
            servers_.start_server(i);
            servers_.heal(i);
            servers_.lag(i, 0ns);
        }
        net_.end_stalls();
        net_.end_faults();
        names_.be_well();
        for (const auto& u : users_) {
            u->process()->resume();
        }
        run_until([this] { return servers_.leader() >= 0; }, 2s);
    }

    [[nodiscard]] int servers_count() { return ensemble_access::cluster_of(servers_).size(); }

    const bool survivable_;
    bool watch_many_ = false;
    adapter_run result_;
    ensemble servers_;
    network net_;
    name_service names_;
    adapter_stage stage_;
    farewells farewells_;
    timer fault_{ensemble_access::loop_of(servers_)};
    std::vector<std::unique_ptr<adapter_user>> users_;
    std::shared_ptr<bool> here_ = std::make_shared<bool>();  ///< the loop outlives all this
};

}  // namespace

adapter_run simulate_adapter(std::uint64_t seed, std::ostream* tale) {
    return adapter_simulation(seed, tale).run();
}

}  // namespace latchkey::test
