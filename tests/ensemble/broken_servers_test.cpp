// A hold outlives the loss of any one server, and of all of them for a while; and nobody else is
// granted the lock meanwhile.
#include "contest.hpp"
#include "eventually.hpp"
#include "held_intervals.hpp"
#include "real_ensemble.hpp"
#include "too_slow.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

struct fault {
    const char* name;
    void (real_ensemble::*strike)(int);

    friend void PrintTo(const fault& f, std::ostream* out) { *out << f.name; }
};

constexpr fault killed{"Killed", &real_ensemble::kill};
constexpr fault paused{"Paused", &real_ensemble::pause};
constexpr fault disk_full{"WithAFullDisk", &real_ensemble::fill_disk};

std::string name_of(const ::testing::TestParamInfo<fault>& of) {
    return of.param.name;
}

class OneServer : public ::testing::TestWithParam<fault> {
protected:
    void strike(int server) { (servers_.*GetParam().strike)(server); }

    [[nodiscard]] std::string followers() const { return addresses(servers_, servers_.leader()); }

    /// From the fault until the holder's next write is answered; the hold is valid all the time.
    static void expect_writes_again(contest& c, const std::string& text) {
        const auto start = boottime_clock::now();
        EXPECT_TRUE(c.writes(c.first(), text)) << to_string(c.first().why_lost());
        report("silence_" + text, boottime_clock::now() - start);
    }

    real_ensemble& servers_ = real_ensemble::breakable();
};

TEST_P(OneServer, OfTheHolderCostsItAReconnectAndNotTheHold) {
    contest c(followers(), servers_.connect_string(), 30s);
    const int its = servers_.server_of(c.first().session());
    ASSERT_NE(its, 0);
    strike(its);
    expect_writes_again(c, "elsewhere");
    // A server with a full disk may have answered before it noticed.
    EXPECT_TRUE(eventually([&] {
        const int now = servers_.server_of(c.first().session());
        return now != 0 && now != its;
    }));
    servers_.mend();
    c.expect_kept();
}

// Followers without a leader hang up, which is noticed at once. Elections can take long.
TEST_P(OneServer, ThatLeadsCostsAnElectionAndNotTheHold) {
    contest c(followers(), servers_.connect_string(), 30s);
    strike(servers_.leader());
    expect_writes_again(c, "in_the_next_epoch");
    servers_.mend();
    c.expect_kept();
}

INSTANTIATE_TEST_SUITE_P(, OneServer, ::testing::Values(killed, paused, disk_full), name_of);

class EachServer : public OneServer {};

// What is noticed by silence takes up to 5/12 of the session timeout, and an election comes on
// top: the rest of the validity has to suffice for that on a slow machine, too.
TEST_P(EachServer, InTurnLeavesTheHold) {
    contest c(servers_.connect_string(), 30s);
    for (int server = 1; server <= servers_.size(); ++server) {
        strike(server);
        expect_writes_again(c, "without_" + std::to_string(server));
        EXPECT_FALSE(c.doubled());
        servers_.mend();
    }
    c.expect_kept();
}

INSTANTIATE_TEST_SUITE_P(, EachServer, ::testing::Values(killed, paused), name_of);

// ---- all servers: shorter than a hold is valid, and longer than a session lives ----

class AllServers : public ::testing::Test {
protected:
    void strike_all(void (real_ensemble::*strike)(int)) {
        for (int server = 1; server <= servers_.size(); ++server) {
            (servers_.*strike)(server);
        }
    }

    /// Mends them, in time for the holder to hear from them before its deadline: another client,
    /// which has waited for the servers as the holder has, is answered by then.
    void expect_mended_in_time(contest& c) {
        const time_point deadline = c.first().valid_until();
        const auto start = boottime_clock::now();
        servers_.mend();
        report("away", boottime_clock::now() - start);
        static_cast<void>(c.effect());
        if (boottime_clock::now() + c.first().session_timeout() / 10 > deadline) {
            GTEST_SKIP() << too_slow << "no server answered while the hold was valid";
        }
        EXPECT_TRUE(c.writes(c.first(), "afterwards")) << to_string(c.first().why_lost());
        c.expect_kept();
    }

    real_ensemble& servers_ = real_ensemble::breakable();
};

TEST_F(AllServers, SilentForShorterThanItsValidityLeaveTheHold) {
    // What is left of the validity has to suffice for an election on a slow machine.
    constexpr auto timeout = 30s;
    contest c(servers_.connect_string(), timeout);
    strike_all(&real_ensemble::pause);
    // One heartbeat at least has been missed then.
    EXPECT_TRUE(eventually(
        [&] { return c.first().valid_until() - boottime_clock::now() < timeout * 2 / 5; }));
    expect_mended_in_time(c);
}

// They are away for as long as it takes to start them: seconds.
TEST_F(AllServers, KilledAndRestartedLeaveTheHold) {
    contest c(servers_.connect_string(), 60s);
    strike_all(&real_ensemble::kill);
    expect_mended_in_time(c);
}

class LongAbsence : public AllServers, public ::testing::WithParamInterface<fault> {};

TEST_P(LongAbsence, LosesTheHoldAtItsDeadlineAndTheQueueGoesOnAfterwards) {
    constexpr auto timeout = 2s;
    contest c(servers_.connect_string(), timeout);
    const auto session = c.second().session();
    strike_all(GetParam().strike);
    const auto away = boottime_clock::now();
    EXPECT_LT(c.first().valid_until(), away + timeout);
    c.expect_lost(loss_reason::deadline_passed);
    EXPECT_TRUE(eventually([&] { return c.first().heard(connection_state::lost); }));
    EXPECT_FALSE(c.second().has());
    // Longer than both sessions live; servers that were killed count anew, though.
    EXPECT_TRUE(eventually([&] { return boottime_clock::now() > away + timeout * 3 / 2; }));
    servers_.mend();

    // Its session may have come through, and then its znode stays until its work has ended.
    c.first().release();
    c.expect_taken_over();
    EXPECT_GE(c.second().places(), c.second().session() == session ? 1 : 2);
    // The first one is a participant like any other again.
    c.first().join();
    const fencing_token seconds = c.second().token();
    c.second().release();
    EXPECT_TRUE(eventually([&] { return c.first().has(); }));
    EXPECT_LT(seconds, c.first().token());
}

INSTANTIATE_TEST_SUITE_P(, LongAbsence, ::testing::Values(killed, paused), name_of);

// ---- all servers are restarted, one after the other, while clients take turns at a lock ----

std::int64_t now() {
    return boottime_clock::now().time_since_epoch().count();
}

/// A client that takes one turn after the other, until it is destroyed.
class turn_taker {
public:
    turn_taker(const std::string& servers, const std::string& path, std::string effects)
        : client_(client::connect(servers, {.session_timeout = 10s})),
          lock_(client_, path),
          effects_(std::move(effects)),
          thread_([this](const std::stop_token& stop) { work(stop); }) {}

    [[nodiscard]] int turns() const { return count_; }

    /// How often the servers confirmed that it set the effects.
    [[nodiscard]] int confirmed() const { return confirmed_; }

    /// For people.
    [[nodiscard]] std::string described() const {
        std::ostringstream text;
        text << "session 0x" << std::hex << client_.session_id() << std::dec << ": " << turns()
             << " turns, " << over_at_once_ << " holds over at once; " << step_.load() << ", "
             << to_string(client_.state());
        return text.str();
    }

    [[nodiscard]] const intervals& finish() {
        thread_.request_stop();
        thread_.join();
        return turns_;
    }

private:
    void work(const std::stop_token& stop) {
        // A hold whose session was lost meanwhile is over, and the next turn comes.
        while (!stop.stop_requested()) {
            step_ = "acquires";
            hold h = lock_.acquire({.stop = stop});
            step_ = "holds";
            held_interval t{.begin = now(), .end = 0, .token = h.token()};
            if (!h.valid()) {
                ++over_at_once_;
                continue;
            }
            std::error_code failed;
            h.transact({operation::set(effects_, h.token().to_string())}, failed);
            t.end = now();
            if (!failed) {
                ++confirmed_;
            }
            if (!h.valid()) {
                t.end = t.begin;
            }
            turns_.push_back(t);
            ++count_;
        }
    }

    client client_;
    mutex lock_;
    std::string effects_;
    intervals turns_;
    std::atomic<int> count_ = 0;
    std::atomic<int> confirmed_ = 0;
    std::atomic<int> over_at_once_ = 0;
    std::atomic<const char*> step_ = "begins";
    std::jthread thread_;
};

using turn_takers = std::vector<std::unique_ptr<turn_taker>>;
using znodes = std::map<std::string, std::string>;

/// What this server shows; throws if it does not answer. The names of the participants, each with
/// its session and its creation.
znodes participants_at(const std::string& server, const std::string& path) {
    const client its = client::connect(server);  // a new session: the server is up to date
    znodes all;
    for (const std::string& name : its.children(path)) {
        std::ostringstream text;
        if (const auto there = its.get(path + '/' + name)) {
            text << std::hex << "of 0x" << there->stat.owner << ", created by 0x"
                 << there->stat.czxid;
        }
        all[name] = text.str();
    }
    return all;
}

/// What each server shows.
std::vector<znodes> participants_of(const real_ensemble& servers, const std::string& path) {
    std::vector<znodes> each;
    for (int server = 1; server <= servers.size(); ++server) {
        each.push_back(participants_at(servers.address(server), path));
    }
    return each;
}

/// The first znode that a server shows twice and another one, asked in between, does not show;
/// empty if there is none. That is a defect of servers (ZOOKEEPER-5010), which the clients do not
/// notice.
std::string shown_by_one_server_alone(const std::vector<znodes>& first,
                                      const std::vector<znodes>& second) {
    for (std::size_t one = 0; one < first.size(); ++one) {
        for (const auto& [name, unused] : first[one]) {
            for (std::size_t other = 0; other < first.size(); ++other) {
                if (second[one].contains(name) && !first[other].contains(name) &&
                    !second[other].contains(name)) {
                    return name;
                }
            }
        }
    }
    return {};
}

/// Says that the servers have lost writes that they had confirmed; empty if they have not. Servers
/// of 3.8 lose writes when one of them ends while it catches up (ZOOKEEPER-4643, -4646, -4785), and
/// a client does not notice it.
std::string forgotten_writes(const turn_takers& all, contest& c) {
    std::int64_t confirmed = 0;
    for (const auto& one : all) {
        confirmed += one->confirmed();
    }
    const std::int64_t shown = c.writes_shown();
    return shown < confirmed ? "the servers confirmed " + std::to_string(confirmed) +
                                   " writes and show " + std::to_string(shown)
                             : "";
}

TEST(ServersThatDiffer, AreToldFromParticipantsThatComeAndGo) {
    const znodes none;
    const znodes early{{"early", ""}};
    const znodes late{{"late", ""}};
    EXPECT_EQ(shown_by_one_server_alone({none, early, none}, {none, early, none}), "early");
    EXPECT_EQ(shown_by_one_server_alone({early, early, late}, {late, late, late}), "");
    EXPECT_EQ(shown_by_one_server_alone({early, early, early}, {early, none, none}), "");
}

/// What the clients do, and what each server knows of them and of the lock, for people.
std::string described(const turn_takers& all,
                      const real_ensemble& servers,
                      const std::vector<znodes>& participants) {
    std::ostringstream text;
    for (const auto& one : all) {
        text << '\n' << one->described();
    }
    for (int server = 1; server <= servers.size(); ++server) {
        text << "\nserver " << server << ", " << servers.mode(server) << ":\n"
             << servers.four_letter_word(server, "cons");
        for (const auto& [name, about] : participants[static_cast<std::size_t>(server - 1)]) {
            text << name << ' ' << about << '\n';
        }
    }
    return text.str();
}

TEST(RollingRestart, ForgetsNobodyAndMakesNoTwoHolders) {
    real_ensemble& servers = real_ensemble::breakable();
    // A hold that lasts through it all.
    contest c(servers.connect_string(), 30s);
    turn_takers all;
    for (int i = 0; i < 5; ++i) {
        all.push_back(std::make_unique<turn_taker>(
            servers.connect_string(), c.path() + "-turns", c.effects()));
    }
    const auto everybody_had_a_turn = [&] {
        return std::ranges::all_of(all, [](const auto& one) {
            return eventually([&, had = one->turns()] { return one->turns() > had; });
        });
    };
    EXPECT_TRUE(everybody_had_a_turn());
    for (int server = 1; server <= servers.size(); ++server) {
        servers.restart(server);
        if (!everybody_had_a_turn()) {
            const std::string path = c.path() + "-turns";
            const auto seen = participants_of(servers, path);
            const auto phantom = shown_by_one_server_alone(seen, participants_of(servers, path));
            const auto forgotten = forgotten_writes(all, c);
            ASSERT_NE(phantom + forgotten, "")
                << "without " << server << described(all, servers, seen);
            GTEST_SKIP() << (forgotten.empty() ? "servers differ in " + phantom : forgotten)
                         << described(all, servers, seen);
        }
        EXPECT_TRUE(c.first().valid());
    }

    intervals turns;
    for (const auto& one : all) {
        append(turns, one->finish());
    }
    if (const auto forgotten = forgotten_writes(all, c); !forgotten.empty()) {
        GTEST_SKIP() << forgotten;
    }
    EXPECT_EQ(not_one_after_the_other(turns), "");
    RecordProperty("turns", static_cast<int>(turns.size()));
    c.expect_kept();
}

}  // namespace
}  // namespace latchkey::test
