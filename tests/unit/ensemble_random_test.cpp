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

/// A program that raises a counter with conditional writes, reads it, watches it and creates
/// sequential znodes, through one session after the other.
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
        session_->submit(request::get(counter), [this](const reply& r) { read(r); });
        session_->submit(
            request::create("/d/n-", {}, create_mode::ephemeral_sequential, open_unsafe_acl()),
            [this](const reply& r) { created(r); });
        session_->submit(request::children("/d"), [this](const reply& r) {
            if (r.ok() && !last_created_.empty() &&
                std::find(r.names.begin(), r.names.end(), last_created_.substr(3)) ==
                    r.names.end()) {
                problem("a list that does not show what was created before it");
            }
            last_created_.clear();
        });
    }

    /// Makes sure that somebody watches the counter.
    void watch() {
        if (watch_ != nullptr) {
            return;
        }
        watch_ = make_watcher([this](watch_event) {
            ++events_;
            watch_ = nullptr;
        });
        session_->submit(request::get(counter), watch_, [this](const reply& r) {
            if (!r.ok()) {
                watch_ = nullptr;
            }
        });
    }

    [[nodiscard]] bool connected() const { return connected_; }

    [[nodiscard]] std::uint64_t raised() const { return raised_; }

    [[nodiscard]] std::uint64_t perhaps_raised() const { return perhaps_raised_; }

    [[nodiscard]] std::int64_t session_id() const { return id_; }

    [[nodiscard]] std::uint64_t events() const { return events_; }

private:
    void problem(const std::string& what) { problems_.push_back(what); }

    void open() {
        session_ = environment_.sessions->open({{}, 4s, {}}, [this](const session_event& e) {
            connected_ = e.what == session_event::kind::connected;
            if (connected_ && id_ == e.id) {
                // As the client does: what is read behind it is no older than what was seen.
                request barrier = request::multi({request::check("/")});
                barrier.urgent = true;
                session_->submit(std::move(barrier), [](const reply&) {});
            }
            if (connected_) {
                id_ = e.id;
            } else {
                watch_ = nullptr;  // it ended with its connection
            }
            if (e.what == session_event::kind::expired) {
                last_seen_ = 0;
                watch_ = nullptr;
                environment_.loop->post([this] { open(); });
            }
        });
    }

    void read(const reply& r) {
        if (!r.ok()) {
            return;
        }
        if (r.stat.mzxid < last_seen_) {
            problem("a session that goes back in time");
        }
        last_seen_ = r.stat.mzxid;
        const std::string next = std::to_string(std::stoull(r.data) + 1);
        session_->submit(request::set(counter, next, r.stat.version), [this](const reply& set) {
            raised_ += set.ok() ? 1U : 0U;
            perhaps_raised_ += outcome_unknown(set.code) ? 1U : 0U;
            if (set.ok()) {
                last_seen_ = std::max(last_seen_, set.stat.mzxid);
            }
        });
        watch();
    }

    void created(const reply& r) {
        if (!r.ok()) {
            return;
        }
        last_created_ = r.path;
        if (r.stat.ephemeral_owner != id_) {
            problem("an ephemeral znode of another session");
        }
        session_->submit(request::remove(r.path), [](const reply&) {});
    }

    runtime environment_;
    std::vector<std::string>& problems_;
    std::unique_ptr<session> session_;
    std::shared_ptr<session::watcher> watch_;
    std::string last_created_;
    std::int64_t id_ = 0;
    std::int64_t last_seen_ = 0;
    std::uint64_t raised_ = 0;
    std::uint64_t perhaps_raised_ = 0;
    std::uint64_t events_ = 0;
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

    // Whoever watches is told.
    for (const auto& c : clients) {
        c->watch();
    }
    all.run_for(1s);
    std::vector<std::uint64_t> before;
    for (const auto& c : clients) {
        before.push_back(c->events());
    }
    all.set(counter, "0");
    all.run_for(1s);
    for (std::size_t i = 0; i < clients.size(); ++i) {
        EXPECT_GT(clients[i]->events(), before[i]);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds,
                         EnsembleUnderRandomFaults,
                         ::testing::Range(std::uint64_t{1}, std::uint64_t{65}));

}  // namespace
}  // namespace latchkey::test
