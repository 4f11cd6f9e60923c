#include "elect_fixture.hpp"

#include <csignal>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// Servers fail while the command runs, or cannot be reached when latchkey starts.

namespace latchkey::test {

namespace {

class Outage : public elect_fixture {
protected:
    Outage() : elect_fixture(real_ensemble::breakable().connect_string()) {}

    void for_all_servers(void (real_ensemble::*act)(int)) {
        for (int server = 1; server <= ensemble_.size(); ++server) {
            (ensemble_.*act)(server);
        }
    }

    /// Waits until the server has answered `count` more requests of the session. A holder sends one
    /// each T/6.
    [[nodiscard]] bool heartbeats(int server, std::int64_t session, int count) const {
        int first = 0;
        return eventually(
            [&] {
                const int sent = ensemble_.sent_to(session, server);
                first = first == 0 ? sent : first;
                return first != 0 && sent >= first + count;
            },
            std::chrono::minutes(1));
    }

    real_ensemble& ensemble_ = real_ensemble::breakable();
};

using LockOutage = Outage;
using ElectOutage = Outage;

TEST_F(LockOutage, OfAllServersKillsTheCommand) {
    const auto p = run_sh("lock -t 4 PATH", family);
    const running_family processes(folder_);
    for_all_servers(&real_ensemble::pause);
    EXPECT_TRUE(eventually([&] { return processes.is_dead(); }));
    for_all_servers(&real_ensemble::resume);
    EXPECT_THAT(err_of(p, 76), HasSubstr("no server has answered"));
}

TEST_F(LockOutage, GivesTheCommandTimeToEnd) {
    const auto p = run_sh("lock -t 4 --grace 1 PATH", at_term("echo >$DIR/term; exit 0"));
    static_cast<void>(folder_.pid_in("main"));
    for_all_servers(&real_ensemble::kill);
    EXPECT_EQ(p->wait(), 76) << p->err();
    EXPECT_TRUE(folder_.has("term"));
}

TEST_F(LockOutage, OfOneServerCostsNothing) {
    // Not the ensemble's leader: without it all servers stop until another is elected.
    const int one = ensemble_.follower();
    int other = 1;
    while (other == one || other == ensemble_.leader()) {
        ++other;
    }
    const std::string servers = ensemble_.address(one) + ',' + ensemble_.address(other);
    const auto p =
        run_sh("lock -t 20 --verbose -z " + servers + " PATH",
               "echo $$ >$DIR/main; while ! [ -e $DIR/go ]; do sleep 0.01; done; exit 6");
    const pid_t main = folder_.pid_in("main");
    const auto session = holder().session_id;
    const int its = ensemble_.server_of(session);
    ASSERT_TRUE(its == one || its == other);
    // After a silence, a hold is valid for a shorter time at first. What is left of it has to
    // suffice for a new connection on a slow machine.
    ASSERT_TRUE(heartbeats(its, session, 3));
    ensemble_.pause(its);
    // Not what the program says: a suspension that is over before it is told is left out.
    const int next = its == one ? other : one;
    ASSERT_TRUE(eventually([&] { return ensemble_.sent_to(session, next) > 0; })) << p->err();
    // A connection begins with a write and two reads. The third heartbeat after them comes later
    // than the deadline that the hold had before the pause.
    ASSERT_TRUE(heartbeats(next, session, 6)) << p->err();
    EXPECT_FALSE(dead(main)) << p->err();
    ensemble_.resume(its);
    folder_.write("go");
    EXPECT_EQ(p->wait(), 6) << p->err();
}

TEST_F(ElectOutage, StartedWithoutServersTheyWaitForThem) {
    for_all_servers(&real_ensemble::kill);
    const auto listening = run("elect -l PATH");
    const auto json = run("elect -l --json PATH");
    const auto leader =
        run_sh("elect -t 4 --id a --data up PATH", "touch $DIR/ran; exec sleep 1000");
    for (const auto* p : {&listening, &json, &leader}) {
        ASSERT_TRUE(eventually_says(*p, "no server reached yet"));
    }
    EXPECT_FALSE(folder_.has("ran"));
    EXPECT_EQ(listening->out() + json->out(), "") << "the leader is not known";
    ensemble_.mend();
    EXPECT_TRUE(folder_.eventually_has("ran")) << leader->err();
    ASSERT_TRUE(eventually_prints(listening, " up\n"));
    EXPECT_THAT(lines_of(listening->out()).back(), StartsWith("leader a "));
    ASSERT_TRUE(eventually_prints(json, R"("data":"up")"));
    EXPECT_EQ(nlohmann::json::parse(lines_of(json->out()).back()).at("leader"), "a");
    EXPECT_EQ(status_after(SIGTERM, leader), 143);
    EXPECT_EQ(status_after(SIGTERM, listening), 0);
    EXPECT_EQ(status_after(SIGTERM, json), 0);
}

TEST_F(ElectOutage, OfAllServersKillsTheCommandAndTheNextTermRunsItAgain) {
    const auto leader = run_sh("elect -t 4 --id a PATH", family);
    const running_family processes(folder_);
    const auto listening = run("elect -l PATH");
    /// The token in the last line; 0 for "no leader", and for one whose record is not written yet.
    const auto last_token = [&] {
        const std::string all = listening->out();  // which grows
        const words last = words_of(lines_of(all).back());
        return all.ends_with('\n') && last.size() > 2 ? std::atoll(last[2].c_str()) : 0;
    };
    ASSERT_TRUE(eventually_prints(listening, "\n"));
    ASSERT_TRUE(eventually([&] { return last_token() > 0; }));
    const auto before = lines_of(listening->out()).back();
    const auto first_token = last_token();
    for_all_servers(&real_ensemble::kill);
    ASSERT_TRUE(eventually([&] { return processes.is_dead(); }));
    EXPECT_EQ(lines_of(listening->out()).back(), before) << "nothing else is known";
    EXPECT_TRUE(leader->running() && listening->running());
    ensemble_.mend();
    ASSERT_TRUE(eventually([&] { return last_token() > first_token; })) << listening->out();
    EXPECT_THAT(listening->out(), HasSubstr(before + "\nno leader\n"));
    EXPECT_TRUE(eventually_another_than(processes.main)) << leader->err();
    EXPECT_THAT(leader->err(), HasSubstr("no server has answered"));
}

}  // namespace

}  // namespace latchkey::test
