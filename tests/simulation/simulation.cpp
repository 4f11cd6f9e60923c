#include "simulation.hpp"

#include <latchkey/error.hpp>

#include "adversary.hpp"
#include "ensemble/cluster.hpp"
#include "ensemble/ensemble_access.hpp"
#include "ensemble/observer.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "judge.hpp"
#include "program.hpp"
#include "stage.hpp"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <memory>
#include <utility>
#include <vector>

namespace latchkey::simulation {

using namespace std::chrono_literals;

stage::stage(const options& how)
    : streams(how.seed),
      recipe(recipe_of(how.recipe)),
      what(draw_plan(how, streams)),
      servers(what.servers),
      cluster(testing::ensemble_access::cluster_of(servers)),
      loop(testing::ensemble_access::loop_of(servers)),
      tale(how.tale),
      begun(servers.now()) {
    cluster.datagrams().set(what.datagrams);
    if (what.drift > 0) {
        for (int i = 0; i < what.servers.servers; ++i) {
            servers.set_server_clock_rate(i, draw_clock_rate(what, streams("server's clock", i)));
        }
    }
}

void stage::broken(const char* invariant, std::string text, std::optional<duration> at) {
    tell("** ", invariant, ": ", text);
    if (violations.empty() || at.value_or(now()) < violations.front().at) {
        violations = {{invariant, std::move(text), at.value_or(now())}};
    }
}

void stage::mark(std::uint64_t number) {
    loop.mark(number);
}

void stage::begin_line() {
    *tale << std::setw(12) << std::fixed << std::setprecision(3)
          << static_cast<double>(now() / 1us) / 1000.0 << "  ";
}

namespace {

class run final : public model::observer {
public:
    explicit run(const options& how)
        : stage_(how),
          judge_owned_(stage_.recipe.judge_of(stage_)),
          judge_(*judge_owned_),
          adversary_(stage_, judge_, programs_) {
        stage_.cluster.show(this);
        stage_.cluster.datagrams().show(
            [this](std::string_view datagram) { judge_.sent(datagram); });
    }

    ~run() {
        stage_.cluster.show(nullptr);
        stage_.cluster.datagrams().show(nullptr);
    }

    verdict all() {
        furnish();
        elect();
        for (const plan::client& c : stage_.what.clients) {
            spawn(c);
        }
        adversary_.begin();
        let_pass(stage_.what.lasting);
        adversary_.end();
        restore();
        calm();
        ending();
        judge_.judge_history();
        if (stage_.over()) {
            stage_.violations.front().text += "\n    " + judge_.picture();
        }
        verdict v;
        v.violations = std::move(stage_.violations);
        v.trace = stage_.servers.trace();
        v.counts = stage_.counts;
        v.counts.runs = 1;
        for (const auto& p : programs_) {
            v.counts.direct += p->granted_directly();
        }
        v.counts.virtual_time = stage_.now();
        v.counts.events = stage_.loop.steps();
        return v;
    }

private:
    // model::observer

    void opened(std::int64_t session, const model::client_process& by) override {
        for (const auto& p : programs_) {
            if (&p->loop() == by.loop.get()) {
                judge_.opened(p->record(), session);
            }
        }
    }

    model::fault_plan::verdict received(const model::connection& c,
                                        const model::packet& p) override {
        judge_.received(c, p);
        return adversary_.at_request(c, p);
    }

    void answering(const model::connection& c, const request& r, result_code code) override {
        judge_.answering(c, r, code);
        adversary_.at_answer(c, r);
    }

    void committed(const model::transaction& t) override { judge_.committed(t); }

    void notified(const model::connection& c, const std::string& path, bool replayed) override {
        judge_.notified(c, path, replayed);
    }

    // The course of a run.

    /// All servers have what every program takes for granted: an early election loses none of it.
    void furnish() {
        stage_.servers.create(root);
        stage_.servers.create(register_path);
        run_until(
            [&] {
                for (int i = 0; i < stage_.cluster.size(); ++i) {
                    if (stage_.cluster.at(i).applied().find(register_path) == nullptr) {
                        return false;
                    }
                }
                return true;
            },
            30s);
    }

    /// Another leader, at another time within a tick.
    void elect() {
        if (stage_.what.election > duration{}) {
            const int first = stage_.servers.leader();
            stage_.servers.run_for(stage_.what.election);
            stage_.servers.stop_server(first);
            run_until([&] { return stage_.servers.leader() >= 0; }, 30s);
            stage_.servers.start_server(first);
        }
    }

    void spawn(const plan::client& c) {
        programs_.push_back(
            std::make_shared<program>(stage_, judge_, c, static_cast<int>(programs_.size())));
        programs_.back()->start();
    }

    /// Runs until `done`, with everything checked after every event. False if it takes longer.
    bool run_until(const std::function<bool()>& done, duration limit) {
        const bool in_time = stage_.servers.run_until(
            [&] {
                judge_.check();
                return stage_.over() || done();
            },
            limit);
        return in_time || stage_.over();
    }

    void let_pass(duration d) {
        const duration until = stage_.now() + d;
        while (stage_.now() < until && !stage_.over()) {
            run_until([&] { return stage_.now() >= until; },
                      std::min(until - stage_.now(), duration(stage_.what.session_timeout) / 4));
            replace_the_finished();
        }
    }

    /// A program that has ended, or crashed, is started again after a while.
    void replace_the_finished() {
        const auto running = static_cast<std::size_t>(std::count_if(
            programs_.begin(), programs_.end(), [](const auto& p) { return !p->finished(); }));
        if (running < stage_.what.clients.size() &&
            stage_.random("replace_the_finished").chance(0.5)) {
            spawn(stage_.what.clients[stage_.random("replace_the_finished")
                                          .below(stage_.what.clients.size())]);
        }
    }

    /// What the operator left behind.
    void restore() {
        for (const plan::client& c : stage_.what.clients) {
            for (const plan::object& o : c.objects) {
                const auto all = o.directories();
                access_restored_.insert(all.begin(), all.end());
            }
        }
        restore_access();
    }

    void restore_access() {
        std::erase_if(access_restored_, [&](const std::string& directory) {
            if (stage_.servers.leader() < 0) {
                return false;
            }
            try {
                stage_.servers.set_acl(directory, open_unsafe_acl());
                stage_.recipe.restore(stage_, directory);
            } catch (const error&) {  // not there
            }
            for (const std::string& name : stage_.servers.children(directory)) {
                const std::string path = directory + '/' + name;
                const auto znode = stage_.servers.get(path);
                if (znode && znode->ephemeral_owner == 0 &&
                    judge_.log().looks_like_participant(path)) {
                    stage_.servers.remove(path);
                }
            }
            return true;
        });
        if (access_restored_.empty() && stage_.what.uses(fault::access_taken)) {
            // Who may not read a znode gets no event of it, and learns of it with a reconnect.
            for (const auto& s : stage_.servers.sessions()) {
                stage_.servers.cut(s.id);
            }
            stage_.last_cut = std::max(stage_.last_cut, stage_.now());
        }
    }

    /// Faults are over: everybody who waits is granted in time, and nothing is left behind.
    void calm() {
        const duration timeout = stage_.what.session_timeout;
        // Sessions end, elections and backoffs of up to 5 s have their time; then one after
        // another.
        const duration slow = timeout * 2 + stage_.what.servers.tick * 2 + 8s;
        const auto settled = std::chrono::ceil<duration>(slow * (1 + 2 * stage_.what.drift));
        const auto callers = static_cast<duration::rep>(programs_.size() * 4);
        run_until([&] { return restored(); }, settled);
        let_pass(timeout);
        restore();  // what the last leader was asked for may have been lost with it
        stage_.stopping = true;
        if (!run_until([&] { return judge_.idle(); }, settled + callers * (timeout / 4 + 1s))) {
            return stage_.broken("I8", "somebody waits for ever");
        }
        if (!run_until([&] { return judge_.empty(); }, settled)) {
            return stage_.broken("I5", "something is left behind");
        }
    }

    bool restored() {
        if (!access_restored_.empty()) {
            restore_access();
        }
        return access_restored_.empty();
    }

    /// The programs end.
    void ending() {
        for (const auto& p : programs_) {
            if (!stage_.over() && !p->record()->crashed) {
                p->finish();
            }
        }
        run_until([] { return false; }, 8s);
        if (!stage_.over()) {
            judge_.check_end();
        }
    }

    stage stage_;
    const std::unique_ptr<judge> judge_owned_;
    judge& judge_;
    adversary::programs programs_;
    adversary adversary_;
    std::set<std::string> access_restored_;
};

}  // namespace

verdict simulate(const options& how) {
    return run(how).all();
}

}  // namespace latchkey::simulation
