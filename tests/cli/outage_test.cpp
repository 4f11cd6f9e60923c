#include "elect_fixture.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// Servers fail while the command runs, or cannot be reached when latchkey starts.

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class outage_fixture : public elect_fixture {
protected:
    outage_fixture() : elect_fixture(real_ensemble::breakable().connect_string()) {}

    void for_all_servers(void (real_ensemble::*act)(int)) {
        for (int server = 1; server <= ensemble_.size(); ++server) {
            (ensemble_.*act)(server);
        }
    }

    real_ensemble& ensemble_ = real_ensemble::breakable();
};

// ---- lock ----

class LockOutage : public outage_fixture {
protected:
    /// Waits until the server has answered `count` more requests of the session. A holder sends one
    /// each T/6.
    [[nodiscard]] bool heartbeats(int server, std::int64_t session, int count) const {
        int first = 0;
        return eventually([&] {
            const int sent = ensemble_.sent_to(session, server);
            first = first == 0 ? sent : first;
            return first != 0 && sent >= first + count;
        });
    }
};

TEST_F(LockOutage, OfAllServersKillsTheCommand) {
    const auto p = lock_sh({"-t", "4"}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    for_all_servers(&real_ensemble::pause);
    EXPECT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    for_all_servers(&real_ensemble::resume);
    EXPECT_EQ(p->wait(), 76) << p->err();
    EXPECT_THAT(p->err(), HasSubstr("no server has answered"));
}

TEST_F(LockOutage, GivesTheCommandTimeToEnd) {
    const auto p = lock_sh({"-t", "4", "--grace", "1"},
                           "trap 'echo >$DIR/term; exit 0' TERM; echo $$ >$DIR/main; "
                           "while :; do sleep 0.01; done");
    static_cast<void>(pid_in("main"));
    for_all_servers(&real_ensemble::kill);
    EXPECT_EQ(p->wait(), 76) << p->err();
    EXPECT_TRUE(exists("term"));
}

TEST_F(LockOutage, OfOneServerCostsNothing) {
    // Not the ensemble's leader: without it all servers stop until another is elected.
    const int one = ensemble_.follower();
    int other = 1;
    while (other == one || other == ensemble_.leader()) {
        ++other;
    }
    const auto p = lock_sh(
        {"-t", "10", "--verbose", "-z", ensemble_.address(one) + ',' + ensemble_.address(other)},
        "echo $$ >$DIR/main; while ! [ -e $DIR/go ]; do sleep 0.01; done; exit 6");
    const pid_t main = pid_in("main");
    const auto session = queue().holder().value().session_id;
    const int its = ensemble_.server_of(session);
    ASSERT_TRUE(its == one || its == other);
    // After a silence, a hold is valid for a shorter time at first.
    ASSERT_TRUE(heartbeats(its, session, 3));
    ensemble_.pause(its);
    // The third heartbeat comes later than the deadline that the hold had before the pause.
    ASSERT_TRUE(heartbeats(its == one ? other : one, session, 3)) << p->err();
    EXPECT_FALSE(dead(main)) << p->err();
    ensemble_.resume(its);
    std::ofstream(folder_ / "go").close();
    EXPECT_EQ(p->wait(), 6) << p->err();
    EXPECT_THAT(p->err(), HasSubstr("reconnected"));
}

// ---- elect ----

class ElectOutage : public outage_fixture {
protected:
    /// Whether all of them report that they found no server.
    [[nodiscard]] static bool find_no_server(const std::vector<program*>& all) {
        return eventually([&] {
            return std::all_of(all.begin(), all.end(), [](const program* p) {
                return p->err().find("no server reached yet") != std::string::npos;
            });
        });
    }

    /// The token in a line about a leader; 0 for "no leader".
    static std::int64_t token(const std::string& line) {
        std::istringstream words(line);
        std::string word;
        words >> word >> word >> word;
        return std::atoll(word.c_str());
    }
};

TEST_F(ElectOutage, StartedWithoutServersTheyWaitForThem) {
    for_all_servers(&real_ensemble::kill);
    const auto listening = elect({"-l"});
    const auto json = elect({"-l", "--json"});
    const auto leader =
        elect_sh({"-t", "4", "--id", "a", "--data", "up"}, "touch $DIR/ran; exec sleep 1000");
    ASSERT_TRUE(find_no_server({listening.get(), json.get(), leader.get()}));
    EXPECT_FALSE(exists("ran"));
    EXPECT_EQ(listening->out() + json->out(), "") << "the leader is not known";
    ensemble_.mend();
    EXPECT_TRUE(eventually_exists("ran")) << leader->err();
    ASSERT_TRUE(eventually([&] { return listening->out().ends_with(" up\n"); }));
    EXPECT_THAT(lines_of(listening->out()).back(), StartsWith("leader a "));
    ASSERT_TRUE(
        eventually([&] { return json->out().find(R"("data":"up")") != std::string::npos; }));
    EXPECT_EQ(nlohmann::json::parse(lines_of(json->out()).back()).at("leader"), "a");
    leader->send(SIGTERM);
    EXPECT_EQ(leader->wait(), 143);
    for (program* const p : {listening.get(), json.get()}) {
        p->send(SIGTERM);
        EXPECT_EQ(p->wait(), 0);
    }
}

TEST_F(ElectOutage, OfAllServersKillsTheCommandAndTheNextTermRunsItAgain) {
    const auto leader = elect_sh({"-t", "4", "--id", "a"}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    const auto listening = elect({"-l"});
    const auto term = [&] { return lines_of(listening->out()).back(); };
    ASSERT_TRUE(eventually([&] { return listening->out().ends_with('\n') && token(term()) > 0; }));
    const auto before = term();
    for_all_servers(&real_ensemble::kill);
    ASSERT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    EXPECT_EQ(term(), before) << "nothing else is known";
    EXPECT_TRUE(leader->running() && listening->running());
    ensemble_.mend();
    ASSERT_TRUE(eventually([&] {
        return listening->out().ends_with('\n') && token(term()) > token(before);
    })) << listening->out();
    EXPECT_THAT(listening->out(), HasSubstr(before + "\nno leader\n"));
    EXPECT_TRUE(eventually([&] {
        const auto text = content_of(folder_ / "main");
        return text.find('\n') != std::string::npos && std::atoi(text.c_str()) != main;
    })) << leader->err();
    EXPECT_THAT(leader->err(), HasSubstr("no server has answered"));
}

}  // namespace

}  // namespace latchkey::test
