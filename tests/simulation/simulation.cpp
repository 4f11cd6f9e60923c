#include "simulation.hpp"

#include <latchkey/mutex.hpp>

#include "ensemble_access.hpp"
#include "random_source.hpp"
#include "virtual_loop.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <system_error>

namespace latchkey::simulation {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

/// At every event no two holds are valid at once; tokens increase from grant to grant; when the
/// faults are over, everybody who waits is granted, and in the end nothing is left in the queue.
class run {
public:
    explicit run(const options& how)
        : random_(how.seed),
          ensemble_(options_for(how.seed)),
          rates_(how.faults.value_or(network_and_servers())) {
        for (std::size_t i = 0; i < 4; ++i) {
            turns_.push_back(std::make_unique<taking_turns>(*this));
        }
    }

    verdict all() {
        const auto start = ensemble_.now();
        phases();
        verdict v;
        v.violations = std::move(violations_);
        v.trace = ensemble_.trace();
        v.counts = {1,
                    ensemble_.now() - start,
                    testing::ensemble_access::loop_of(ensemble_).steps(),
                    grants_,
                    ensemble_.count().requests()};
        return v;
    }

private:
    /// One client that acquires, holds for a while, releases, and begins again.
    class taking_turns {
    public:
        explicit taking_turns(run& r)
            : run_(r),
              client_(r.ensemble_.connect({.session_timeout = 4s})),
              mutex_(client_, "/lock") {}

        void join() {
            waiting_ = true;
            const auto patience =
                run_.random_.below(4) == 0
                    ? std::chrono::nanoseconds(run_.random_.below(5'000) * 1'000'000)
                    : std::chrono::nanoseconds::max();
            mutex_.async_acquire(patience, {}, [this](std::error_code ec, hold h) {
                waiting_ = false;
                if (ec && ec != errc::unreachable) {
                    run_.broken("I9", "an acquire failed: " + ec.message());
                }
                hold_ = std::move(h);
                if (hold_) {
                    run_.granted(hold_.fencing_token());
                    until_ =
                        run_.ensemble_.now() + std::chrono::milliseconds(run_.random_.below(3'000));
                }
            });
        }

        void go_on() {
            if (hold_ && run_.ensemble_.now() >= until_) {
                hold_.release();
            }
            if (!hold_ && !waiting_ && !run_.stopping_) {
                join();
            }
        }

        [[nodiscard]] bool believes() const { return hold_.valid(); }

        [[nodiscard]] bool idle() const { return !hold_ && !waiting_; }

    private:
        run& run_;
        client client_;
        mutex mutex_;
        hold hold_;
        bool waiting_ = false;
        ensemble::duration until_{};
    };

    static ensemble::options options_for(std::uint64_t seed) {
        ensemble::options o;
        o.mode = ensemble::mode::stepped;
        o.seed = seed;
        o.one_way = 1ms;
        o.jitter = 5ms;
        o.between_servers = 1ms;
        o.tick = 500ms;
        return o;
    }

    static testing::faults network_and_servers() {
        return {.cut_before = 0.01,
                .cut_after = 0.02,
                .interval = 200ms,
                .cut = 0.1,
                .suspend = 0.03,
                .pause = 0.03,
                .expire = 0,
                .stop = 0.03,
                .isolate = 0.03,
                .lag = 0.1,
                .lasting = 6s};
    }

    void phases() {
        for (auto& t : turns_) {
            t->join();
        }
        ensemble_.inject(rates_);
        step_for(90s);
        ensemble_.inject({});
        step_for(45s);  // what has begun ends, sessions that are dead expire
        const auto grants_before = grants_;
        step_for(60s);
        if (grants_ == grants_before) {
            broken("I8", "nobody is granted any more");
        }
        stopping_ = true;
        if (!ensemble_.run_until([&] { return over() || idle(); }, 120s)) {
            broken("I8", "somebody waits for ever");
        }
        step_for(30s);
        if (!ensemble_.children("/lock").empty()) {
            broken("I5", "left behind: " + ensemble_.children("/lock").front());
        }
    }

    void granted(fencing_token t) {
        ++grants_;
        if (t <= last_) {
            broken("I3", "a token that does not increase: " + t.to_string());
        }
        last_ = std::max(t, last_);
    }

    [[nodiscard]] bool idle() {
        check();
        return std::all_of(turns_.begin(), turns_.end(), [](const auto& t) { return t->idle(); });
    }

    void check() {
        int believers = 0;
        for (auto& t : turns_) {
            t->go_on();
            believers += t->believes() ? 1 : 0;
        }
        if (believers > 1) {
            broken("I1", "two holds are valid at once");
        }
    }

    void step_for(ensemble::duration d) {
        const auto end = ensemble_.now() + d;
        ensemble_.run_until(
            [&] {
                check();
                return over() || ensemble_.now() >= end;
            },
            d);
    }

    [[nodiscard]] bool over() const { return !violations_.empty(); }

    void broken(std::string invariant, std::string text) {
        if (violations_.empty()) {
            violations_.push_back({std::move(invariant), std::move(text), ensemble_.now()});
        }
    }

    model::random_source random_;
    ensemble ensemble_;
    const testing::faults rates_;
    std::vector<std::unique_ptr<taking_turns>> turns_;
    std::vector<violation> violations_;
    std::uint64_t grants_ = 0;
    fencing_token last_;
    bool stopping_ = false;
};

}  // namespace

figures& figures::operator+=(const figures& other) noexcept {
    runs += other.runs;
    virtual_time += other.virtual_time;
    events += other.events;
    grants += other.grants;
    requests += other.requests;
    return *this;
}

verdict simulate(const options& how) {
    return run(how).all();
}

}  // namespace latchkey::simulation
