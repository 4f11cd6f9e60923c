#include <latchkey/ensemble.hpp>

#include "ensemble/ensemble_access.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// What ZooKeeper guarantees whatever fails, checked on the model itself: a simulation is worth as
// much as its ensemble.

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using ensemble = latchkey::testing::ensemble;

constexpr const char* counter = "/counter";

/// A program that raises a counter with conditional writes and creates sequential znodes, through
/// one session after the other. That no session goes back in time, and that each watch tells of a
/// change, is what the simulation of the adapter shows (tests/adapter).
class random_client {
public:
    random_client(ensemble& e, std::vector<std::string>& problems)
        : environment_(latchkey::testing::runtime_of(e)), problems_(problems) {
        open();
    }

    ~random_client() { session_ = nullptr; }

    random_client(const random_client&) = delete;
    random_client& operator=(const random_client&) = delete;

    void act() {
        session_->submit(request::get(counter), [this](const reply& r) {
            if (r.ok()) {
                raise(r);
            }
        });
        session_->submit(
            request::create("/d/n-", {}, create_mode::ephemeral_sequential, open_unsafe_acl()),
            [this](const reply& r) { last_created_ = r.ok() ? r.path.substr(3) : ""; });
        session_->submit(request::children("/d"), [this](const reply& r) {
            if (last_created_.empty()) {
                return;
            }
            if (r.ok() &&
                std::find(r.names.begin(), r.names.end(), last_created_) == r.names.end()) {
                problems_.emplace_back("a list that does not show what was created before it");
            }
            session_->submit(request::remove("/d/" + last_created_), [](const reply&) {});
        });
    }

    [[nodiscard]] bool connected() const { return connected_; }

    [[nodiscard]] std::uint64_t raised() const { return raised_; }

    [[nodiscard]] std::uint64_t perhaps_raised() const { return perhaps_raised_; }

private:
    void open() {
        session_ = environment_.sessions->open({{}, 4s, {}}, [this](const session_event& e) {
            connected_ = e.what == session_event::kind::connected;
            if (e.what == session_event::kind::expired) {
                environment_.loop->post([this] { open(); });
            }
        });
    }

    void raise(const reply& r) {
        const std::string next = std::to_string(std::stoull(r.data) + 1);
        session_->submit(request::set(counter, next, r.stat.version), [this](const reply& set) {
            raised_ += set.ok() ? 1U : 0U;
            perhaps_raised_ += outcome_unknown(set.code) ? 1U : 0U;
        });
    }

    runtime environment_;
    std::vector<std::string>& problems_;
    std::unique_ptr<session> session_;
    std::string last_created_;
    std::uint64_t raised_ = 0;
    std::uint64_t perhaps_raised_ = 0;
    bool connected_ = false;
};

ensemble::options troubled(std::uint64_t seed) {
    ensemble::options how;
    how.mode = ensemble::mode::stepped;
    how.seed = seed;
    how.servers = seed % 3 == 0 ? 5 : 3;
    how.tick = 1s;
    how.one_way = 1ms;
    how.jitter = std::chrono::milliseconds(seed % 7);
    how.between_servers = std::chrono::milliseconds(seed % 5);
    return how;
}

latchkey::testing::faults rates(std::uint64_t seed) {
    const auto rate = [&](std::uint64_t bit) { return (seed >> bit) % 2 != 0 ? 0.3 : 0.0; };
    latchkey::testing::faults f;
    f.cut_before = rate(0) / 10;
    f.cut_after = rate(1) / 10;
    f.interval = 700ms;
    f.cut = rate(2);
    f.suspend = rate(3);
    f.pause = rate(4);
    f.expire = rate(0) / 3;
    f.stop = rate(1);
    f.isolate = rate(2);
    f.lag = rate(3);
    f.lasting = 8s;
    return f;
}

class EnsembleUnderRandomFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(EnsembleUnderRandomFaults, KeepsWhatItAnswered) {
    ensemble all(troubled(GetParam()));
    all.create(counter, "0");
    all.create("/d");
    all.run_for(1s);
    std::vector<std::string> problems;
    std::vector<std::unique_ptr<random_client>> clients;
    for (int i = 0; i < 4; ++i) {
        clients.push_back(std::make_unique<random_client>(all, problems));
    }
    all.inject(rates(GetParam()));
    for (int round = 0; round < 100; ++round) {
        all.run_for(300ms);
        clients[static_cast<std::size_t>(round) % clients.size()]->act();
    }
    all.inject({});
    ASSERT_TRUE(all.run_until(
        [&] {
            return std::all_of(
                clients.begin(), clients.end(), [](const auto& c) { return c->connected(); });
        },
        2min))
        << "a client does not find back";
    all.run_for(20s);
    EXPECT_EQ(problems, std::vector<std::string>());

    std::uint64_t raised = 0;
    std::uint64_t most = 0;
    for (const auto& c : clients) {
        raised += c->raised();
        most += c->raised() + c->perhaps_raised();
    }
    const auto znode = all.get(counter);
    ASSERT_TRUE(znode);
    EXPECT_GE(std::stoull(znode->data), raised) << "an answered write was lost";
    EXPECT_LE(std::stoull(znode->data), most) << "a refused write was done";
    EXPECT_EQ(std::stoull(znode->data), static_cast<std::uint64_t>(znode->version));
    EXPECT_GT(raised, 0U);

    std::set<std::int64_t> living;
    for (const ensemble::session_info& s : all.sessions()) {
        if (s.alive) {
            living.insert(s.id);
        }
    }
    EXPECT_EQ(living.size(), clients.size()) << "sessions that nobody has are over";
    for (const std::string& name : all.children("/d")) {
        EXPECT_TRUE(living.contains(all.get("/d/" + name)->ephemeral_owner)) << name;
    }
    EXPECT_TRUE(latchkey::testing::ensemble_access::servers_agree(all));
}

INSTANTIATE_TEST_SUITE_P(Seeds,
                         EnsembleUnderRandomFaults,
                         ::testing::Range(std::uint64_t{1}, std::uint64_t{65}));

}  // namespace
}  // namespace latchkey::test
