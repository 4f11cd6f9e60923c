#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

/// Clients that take turns on one lock while servers, connections and the clients themselves fail
/// at random.
///
/// A run is its seed. At every event no two holds are valid at once; tokens increase from grant to
/// grant; when the faults are over, everybody who waits is granted, and in the end nothing is left
/// in the queue.
class random_run {
public:
    random_run(std::uint64_t seed, const testing::faults& rates)
        : random_(seed), ensemble_(options_for(seed)), rates_(rates) {
        for (std::size_t i = 0; i < 4; ++i) {
            turns_.push_back(std::make_unique<taking_turns>(*this));
        }
    }

    void run() {
        for (auto& t : turns_) {
            t->join();
        }
        ensemble_.inject(rates_);
        step_for(90s);
        ensemble_.inject({});
        step_for(45s);  // what has begun ends, sessions that are dead expire
        const auto grants_before = grants_;
        step_for(60s);
        EXPECT_GT(grants_, grants_before) << "nobody is granted any more";
        stopping_ = true;
        ASSERT_TRUE(ensemble_.run_until([&] { return idle(); }, 120s))
            << "somebody waits for ever: " << picture();
        step_for(30s);
        EXPECT_EQ(ensemble_.children("/lock"), std::vector<std::string>())
            << "left behind: " << picture();
    }

    [[nodiscard]] std::uint64_t grants() const { return grants_; }

private:
    /// One client that acquires, holds for a while, releases, and begins again.
    class taking_turns {
    public:
        explicit taking_turns(random_run& run)
            : run_(run),
              client_(run.ensemble_.connect({.session_timeout = 4s})),
              mutex_(client_, "/lock") {}

        void join() {
            waiting_ = true;
            const auto patience = run_.below(4) == 0
                                      ? std::chrono::nanoseconds(run_.below(5'000) * 1'000'000)
                                      : std::chrono::nanoseconds::max();
            mutex_.async_acquire(patience, {}, [this](std::error_code ec, hold h) {
                waiting_ = false;
                EXPECT_FALSE(ec && ec != errc::unreachable) << ec.message();
                hold_ = std::move(h);
                if (hold_) {
                    run_.granted(hold_.fencing_token());
                    until_ = run_.ensemble_.now() + std::chrono::milliseconds(run_.below(3'000));
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

        [[nodiscard]] std::string picture() const {
            std::ostringstream out;
            out << std::hex << client_.session_id() << ' ' << to_string(client_.state())
                << (waiting_ ? " waits" : "") << (hold_ ? " holds" : "");
            return out.str();
        }

    private:
        random_run& run_;
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

    std::uint64_t below(std::uint64_t n) { return random_() % n; }

    void granted(fencing_token t) {
        ++grants_;
        EXPECT_GT(t, last_) << "a token that does not increase";
        last_ = std::max(t, last_);
    }

    /// Who is where, for the reader of a failure.
    [[nodiscard]] std::string picture() const {
        std::ostringstream out;
        out << "at " << ensemble_.now() / 1ms << " ms, leader " << ensemble_.leader()
            << "; sessions";
        for (const auto& s : ensemble_.sessions()) {
            out << ' ' << std::hex << s.id << std::dec << (s.alive ? "" : " dead") << '@'
                << (s.connected ? s.server : -1);
        }
        out << "; queue";
        for (const auto& name : ensemble_.children("/lock")) {
            const auto z = ensemble_.get("/lock/" + name);
            out << ' ' << name << " of " << std::hex << (z ? z->ephemeral_owner : 0) << std::dec;
        }
        out << "; clients";
        for (const auto& t : turns_) {
            out << ' ' << t->picture();
        }
        return out.str();
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
        ASSERT_LE(believers, 1) << "two holds are valid at once";
    }

    void step_for(ensemble::duration d) {
        const auto end = ensemble_.now() + d;
        ensemble_.run_until(
            [&] {
                check();
                return ::testing::Test::HasFailure() || ensemble_.now() >= end;
            },
            d);
    }

    std::mt19937_64 random_;
    ensemble ensemble_;
    const testing::faults rates_;
    std::vector<std::unique_ptr<taking_turns>> turns_;
    std::uint64_t grants_ = 0;
    fencing_token last_;
    bool stopping_ = false;
};

testing::faults network_and_servers() {
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

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// LATCHKEY_SEED runs one seed again; LATCHKEY_SEEDS runs more of them.
void run_seeds(const testing::faults& rates) {
    const std::uint64_t first = number_from("LATCHKEY_SEED", 1);
    const bool one = std::getenv("LATCHKEY_SEED") != nullptr;
    const std::uint64_t count = one ? 1 : number_from("LATCHKEY_SEEDS", 40);
    std::uint64_t grants = 0;
    for (std::uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure();
         ++seed) {
        SCOPED_TRACE("LATCHKEY_SEED=" + std::to_string(seed));
        random_run run(seed, rates);
        run.run();
        grants += run.grants();
    }
    ::testing::Test::RecordProperty("grants", std::to_string(grants));
    EXPECT_GT(grants, count * 5);
}

TEST(RandomFaults, OfNetworkServersAndClientsNeverLetTwoBelieve) {
    run_seeds(network_and_servers());
}

TEST(RandomFaults, OfConnectionsAloneLoseNothing) {
    run_seeds({.cut_before = 0.05, .cut_after = 0.1, .interval = 100ms, .cut = 0.3, .lasting = 1s});
}

}  // namespace
}  // namespace latchkey::test
