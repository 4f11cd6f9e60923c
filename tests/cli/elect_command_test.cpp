#include <latchkey/leader_latch.hpp>

#include "elect_fixture.hpp"

#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace latchkey::test {

namespace {

class ElectCommand : public elect_fixture {};

TEST_F(ElectCommand, OnceItExitsWithTheCommandsStatus) {
    const std::string script = "echo $LATCHKEY_PATH $LATCHKEY_NODE $LATCHKEY_TOKEN; exit 42";
    std::int64_t last = 0;
    for (int i = 0; i < 2; ++i) {
        const auto p = run_sh("elect --once PATH", script);
        const words described = words_of(out_of(p, 42));
        EXPECT_EQ(p->err(), "");
        ASSERT_THAT(described, SizeIs(3));
        EXPECT_EQ(described[0], path_);
        EXPECT_THAT(described[1], AllOf(StartsWith(path_ + "/_c_"), HasSubstr("-latch-")));
        EXPECT_GT(std::stoll(described[2]), last);
        last = std::stoll(described[2]);
    }
    EXPECT_THAT(candidates(), IsEmpty());
}

TEST_F(ElectCommand, RunsTheCommandInEachTermUntilASignal) {
    const auto p = run_sh("elect --verbose PATH", "echo $LATCHKEY_TOKEN >>$DIR/terms; exit 1");
    ASSERT_TRUE(eventually([&] { return numbers_in("terms").size() >= 3; }));
    EXPECT_THAT(status_after(SIGTERM, p), AnyOf(143, 1))
        << "between two terms, or at the end of one";
    EXPECT_TRUE(are_growing(numbers_in("terms"))) << folder_.content("terms");
    EXPECT_THAT(p->err(), AllOf(HasSubstr("command exited with status 1"), HasSubstr("resigned")));
    EXPECT_THAT(candidates(), IsEmpty());
}

TEST_F(ElectCommand, BeginsATermAfterAPauseWithTimeForTheGrace) {
    const auto p = run_sh("elect -t 6 --grace 1.5 PATH", "echo >>$DIR/runs; exit 1");
    ASSERT_TRUE(eventually([&] { return folder_.content("runs").size() >= 6; }))
        << "the last pause is of four seconds";
    EXPECT_THAT(p->err(), Not(HasSubstr("lost")));
}

TEST_F(ElectCommand, LeadsOneAfterTheOther) {
    const auto first = run_sh("elect --id first PATH", "touch $DIR/first; exec sleep 1000");
    ASSERT_TRUE(folder_.eventually_has("first"));
    const auto second = run_sh("elect --id second PATH", "touch $DIR/second; exec sleep 1000");
    ASSERT_TRUE(eventually_candidates("first second"));
    EXPECT_FALSE(folder_.has("second"));
    EXPECT_EQ(status_after(SIGTERM, first), 143);
    EXPECT_TRUE(folder_.eventually_has("second"));
    EXPECT_TRUE(eventually_candidates("second"));
}

TEST_F(ElectCommand, SignalThatTheCommandSurvivesDoesNotEndIt) {
    const auto p = run_sh(
        "elect PATH", "trap 'touch $DIR/hup' HUP; touch $DIR/ready; while :; do sleep 0.01; done");
    ASSERT_TRUE(folder_.eventually_has("ready"));
    p->send(SIGHUP);
    ASSERT_TRUE(folder_.eventually_has("hup"));
    EXPECT_TRUE(p->running());
    EXPECT_EQ(status_after(SIGUSR1, p), 128 + SIGUSR1)
        << "that ended the command, and was meant to";
}

TEST_F(ElectCommand, SignalWhileItFollowsLeavesTheQueue) {
    const auto leader = holding("elect --id leader PATH");
    const auto follower = run_sh("elect --id follower PATH", "touch $DIR/ran");
    ASSERT_TRUE(eventually_candidates("leader follower"));
    EXPECT_EQ(status_after(SIGTERM, follower), 143);
    EXPECT_TRUE(eventually_candidates("leader"));
    EXPECT_FALSE(folder_.has("ran"));
    EXPECT_EQ(status_after(SIGINT, leader), 0);
}

TEST_F(ElectCommand, LossKillsTheCommandAndMakesItACandidateAgain) {
    const auto p = run_sh("elect PATH", family);
    const running_family processes(folder_);
    break_leadership();
    ASSERT_TRUE(eventually([&] { return processes.is_dead(); }));
    ASSERT_TRUE(eventually_another_than(processes.main)) << "it leads again";
    EXPECT_THAT(p->err(), HasSubstr("leadership " + path_ + " lost"));
    EXPECT_EQ(status_after(SIGTERM, p), 143);
}

TEST_F(ElectCommand, LossIsItsEndIfItLeadsOnce) {
    const auto p = run_sh("elect --once PATH", at_term("exit 0"));
    static_cast<void>(folder_.pid_in("main"));
    break_leadership();
    EXPECT_EQ(p->wait(), 76);
}

TEST_F(ElectCommand, KilledLeavesNoCommandBehindWhenTheNextLeads) {
    const auto leader = run_sh("elect -t 4 PATH", family);
    const running_family processes(folder_);
    const auto next = run_sh("elect -t 4 --once PATH", fails_beside_the_family);
    ASSERT_TRUE(eventually([&] { return candidates().size() == 2; }));
    leader->send(SIGKILL);
    EXPECT_TRUE(eventually([&] { return processes.is_dead(); }));
    EXPECT_EQ(next->wait(), 0) << next->err();
}

TEST_F(ElectCommand, WithoutCommandPrintsALineForEachTerm) {
    const auto p = holding("elect --json PATH");
    break_leadership();
    ASSERT_TRUE(eventually([&] { return lines_of(p->out()).size() == 2; }));
    p->send(SIGTERM);
    const auto terms = objects_of(p);
    EXPECT_EQ(terms[0].at("path"), path_);
    EXPECT_LT(std::stoll(terms[0].at("token").get<std::string>()),
              std::stoll(terms[1].at("token").get<std::string>()));
}

TEST_F(ElectCommand, ListenPrintsTheLeader) {
    const auto listening = run("elect -l PATH");
    const auto eventually_ends_with = [&](const std::string& text) {
        return eventually([&] { return listening->out().ends_with(text); });
    };
    ASSERT_TRUE(eventually([&] { return listening->out() == "no leader\n"; }));
    leader_latch latch(view(), path_, {.id = "node 1\n", .data = "10.0.0.1:80"});
    const auto term = latch.wait();
    ASSERT_TRUE(eventually_ends_with("\nleader node 1\\n " + term.token().to_string() + ' ' +
                                     term.path() + " 10.0.0.1:80\n"))
        << listening->out();
    term.proclaim("10.0.0.2:80");
    ASSERT_TRUE(eventually_ends_with(" 10.0.0.2:80\n"));
    latch.close();
    ASSERT_TRUE(eventually_ends_with("\nno leader\n"));
    EXPECT_EQ(status_after(SIGTERM, listening), 0);
    EXPECT_EQ(listening->err(), "");
}

TEST_F(ElectCommand, ListenPrintsJsonForPrograms) {
    const auto listening = run("elect -l --json PATH");
    /// The last line that is whole.
    const auto last = [&] {
        const std::string all = listening->out();
        return nlohmann::json::parse(lines_of(all.substr(0, all.rfind('\n') + 1)).back());
    };
    ASSERT_TRUE(eventually([&] { return listening->out().ends_with('\n'); }));
    EXPECT_EQ(last(), nlohmann::json({{"path", path_}, {"leader", nullptr}}));
    const auto leader = run("elect --id node-1 --data up PATH");
    ASSERT_TRUE(eventually([&] { return last().value("data", "") == "up"; })) << listening->out();
    EXPECT_EQ(last().at("path"), path_);
    EXPECT_EQ(last().at("leader"), "node-1");
    EXPECT_GT(std::stoll(last().at("token").get<std::string>()), 0);
    ASSERT_TRUE(eventually([&] { return !leader->out().empty(); })) << "it may learn it last";
    EXPECT_EQ(status_after(SIGTERM, leader), 0);
    ASSERT_TRUE(eventually([&] { return last().at("leader").is_null(); }));
}

TEST_F(ElectCommand, ListenReportsThatItMayNotRead) {
    const auto leader = holding("elect PATH", {}, jo);
    EXPECT_THAT(err_of(run("elect -l PATH"), 77), HasSubstr(path_));
    EXPECT_EQ(run("elect PATH -- true")->wait(), 77);
}

}  // namespace

}  // namespace latchkey::test
