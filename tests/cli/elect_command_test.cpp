#include <latchkey/leader_latch.hpp>

#include "elect_fixture.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace latchkey::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ElectCommand : public elect_fixture {
protected:
    ElectCommand() : elect_fixture(real_ensemble::shared().connect_string()) {}

    /// Another client deletes the leader's znode.
    void break_leadership() {
        const auto victim = leader_observer::leader(view(), path_).value().path;
        mutex other(view(), real_ensemble::fresh_path());
        other.acquire().transact({operation::remove(victim)});
    }
};

TEST_F(ElectCommand, OnceItExitsWithTheCommandsStatus) {
    const auto p =
        elect_sh({"--once"}, "echo $LATCHKEY_PATH $LATCHKEY_NODE $LATCHKEY_TOKEN; exit 42");
    EXPECT_EQ(p->wait(), 42);
    EXPECT_EQ(p->err(), "");
    std::istringstream line(p->out());
    std::string path;
    std::string node;
    std::int64_t token = 0;
    line >> path >> node >> token;
    EXPECT_EQ(path, path_);
    EXPECT_THAT(node, StartsWith(path_ + "/_c_"));
    EXPECT_THAT(node, HasSubstr("-latch-"));
    EXPECT_GT(token, 0);
    const auto later = elect_sh({"--once"}, "echo $LATCHKEY_TOKEN");
    EXPECT_EQ(later->wait(), 0);
    EXPECT_GT(std::stoll(later->out()), token);
    EXPECT_THAT(candidates(), ElementsAre());
}

TEST_F(ElectCommand, RunsTheCommandInEachTermUntilASignal) {
    const auto p = elect_sh({"--verbose"}, "echo $LATCHKEY_TOKEN >>$DIR/terms; exit 1");
    ASSERT_TRUE(eventually([&] { return lines_of(content_of(folder_ / "terms")).size() >= 3; }));
    p->send(SIGTERM);
    EXPECT_THAT(p->wait(), testing::AnyOf(143, 1)) << "between two terms, or at the end of one";
    std::int64_t last = 0;
    for (const auto& token : lines_of(content_of(folder_ / "terms"))) {
        EXPECT_GT(std::stoll(token), last);
        last = std::stoll(token);
    }
    EXPECT_THAT(p->err(), HasSubstr("command exited with status 1"));
    EXPECT_THAT(p->err(), HasSubstr("resigned"));
    EXPECT_THAT(candidates(), ElementsAre());
}

TEST_F(ElectCommand, LeadsOneAfterTheOther) {
    const auto first = elect_sh({"--id", "first"}, "touch $DIR/first; exec sleep 1000");
    ASSERT_TRUE(eventually_exists("first"));
    const auto second = elect_sh({"--id", "second"}, "touch $DIR/second; exec sleep 1000");
    ASSERT_TRUE(eventually_candidates({"first", "second"}));
    EXPECT_FALSE(exists("second"));
    first->send(SIGTERM);
    EXPECT_EQ(first->wait(), 143);
    EXPECT_TRUE(eventually_exists("second"));
    EXPECT_TRUE(eventually_candidates({"second"}));
}

TEST_F(ElectCommand, SignalThatTheCommandSurvivesDoesNotEndIt) {
    const auto p =
        elect_sh({}, "trap 'touch $DIR/hup' HUP; touch $DIR/ready; while :; do sleep 0.01; done");
    ASSERT_TRUE(eventually_exists("ready"));
    p->send(SIGHUP);
    ASSERT_TRUE(eventually_exists("hup"));
    EXPECT_TRUE(p->running());
    p->send(SIGUSR1);
    EXPECT_EQ(p->wait(), 128 + SIGUSR1) << "that ended the command, and was meant to";
}

TEST_F(ElectCommand, SignalWhileItFollowsLeavesTheQueue) {
    const auto leader = elect({"--id", "leader"});
    ASSERT_TRUE(eventually([&] { return !leader->out().empty(); }));
    const auto follower = elect({"--id", "follower"}, {"--", "touch", (folder_ / "ran").string()});
    ASSERT_TRUE(eventually_candidates({"leader", "follower"}));
    follower->send(SIGTERM);
    EXPECT_EQ(follower->wait(), 143);
    EXPECT_TRUE(eventually_candidates({"leader"}));
    EXPECT_FALSE(exists("ran"));
    leader->send(SIGINT);
    EXPECT_EQ(leader->wait(), 0);
}

TEST_F(ElectCommand, LossKillsTheCommandAndMakesItACandidateAgain) {
    const auto p = elect_sh({}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    break_leadership();
    ASSERT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    ASSERT_TRUE(eventually([&] {
        const auto text = content_of(folder_ / "main");
        return text.find('\n') != std::string::npos && std::atoi(text.c_str()) != main;
    })) << "it leads again";
    EXPECT_THAT(p->err(), HasSubstr("leadership " + path_ + " lost"));
    p->send(SIGTERM);
    EXPECT_EQ(p->wait(), 143);
}

TEST_F(ElectCommand, LossIsItsEndIfItLeadsOnce) {
    const auto p = elect_sh({"--once"},
                            "trap 'exit 0' TERM; echo $$ >$DIR/main; while :; do sleep 0.01; done");
    static_cast<void>(pid_in("main"));
    break_leadership();
    EXPECT_EQ(p->wait(), 76);
}

TEST_F(ElectCommand, KilledLeavesNoCommandBehindWhenTheNextLeads) {
    const auto leader = elect_sh({"-t", "4"}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    const auto next = elect_sh({"-t", "4", "--once"},
                               "kill -0 $(cat $DIR/main) 2>/dev/null && exit 1; "
                               "kill -0 $(cat $DIR/stray) 2>/dev/null && exit 2; exit 0");
    ASSERT_TRUE(eventually([&] { return candidates().size() == 2; }));
    leader->send(SIGKILL);
    EXPECT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    EXPECT_EQ(next->wait(), 0) << next->err();
}

TEST_F(ElectCommand, WithoutCommandPrintsALineForEachTerm) {
    const auto p = elect({"--json"});
    ASSERT_TRUE(eventually([&] { return !p->out().empty(); }));
    break_leadership();
    ASSERT_TRUE(eventually([&] { return lines_of(p->out()).size() == 2; }));
    p->send(SIGTERM);
    EXPECT_EQ(p->wait(), 0);
    const auto lines = lines_of(p->out());
    const auto first = nlohmann::json::parse(lines[0]);
    const auto second = nlohmann::json::parse(lines[1]);
    EXPECT_EQ(first.at("path"), path_);
    EXPECT_LT(std::stoll(first.at("token").get<std::string>()),
              std::stoll(second.at("token").get<std::string>()));
}

TEST_F(ElectCommand, ListenPrintsTheLeader) {
    const auto listening = elect({"-l"});
    ASSERT_TRUE(eventually([&] { return listening->out() == "no leader\n"; }));
    leader_latch latch(view(), path_, {.id = "node 1\n", .data = "10.0.0.1:80"});
    const auto term = latch.wait();
    const auto line =
        "leader node 1\\n " + term.token().to_string() + ' ' + term.path() + " 10.0.0.1:80";
    ASSERT_TRUE(eventually([&] { return lines_of(listening->out()).back() == line; }))
        << listening->out();
    term.proclaim("10.0.0.2:80");
    ASSERT_TRUE(eventually([&] { return listening->out().ends_with(" 10.0.0.2:80\n"); }));
    latch.close();
    ASSERT_TRUE(eventually([&] { return listening->out().ends_with("\nno leader\n"); }));
    listening->send(SIGTERM);
    EXPECT_EQ(listening->wait(), 0);
    EXPECT_EQ(listening->err(), "");
}

TEST_F(ElectCommand, ListenPrintsJsonForPrograms) {
    const auto listening = elect({"-l", "--json"});
    const auto last = [&] { return nlohmann::json::parse(lines_of(listening->out()).back()); };
    ASSERT_TRUE(eventually([&] { return listening->out().ends_with('\n'); }));
    EXPECT_EQ(last(), nlohmann::json({{"path", path_}, {"leader", nullptr}}));
    const auto leader = elect({"--id", "node-1", "--data", "up"});
    ASSERT_TRUE(eventually([&] {
        return listening->out().ends_with('\n') && last().value("data", "") == "up";
    })) << listening->out();
    EXPECT_EQ(last().at("path"), path_);
    EXPECT_EQ(last().at("leader"), "node-1");
    EXPECT_GT(std::stoll(last().at("token").get<std::string>()), 0);
    ASSERT_TRUE(eventually([&] { return !leader->out().empty(); })) << "it may learn it last";
    leader->send(SIGTERM);
    ASSERT_TRUE(eventually([&] { return last().at("leader").is_null(); }));
    EXPECT_EQ(leader->wait(), 0);
}

TEST_F(ElectCommand, ListenExitsWhenItCannotPrint) {
    program_surroundings nobody_reads;
    nobody_reads.closed_stdout = true;
    EXPECT_EQ(elect({"-l"}, {}, nobody_reads)->wait(), 74);
}

TEST_F(ElectCommand, ListenReportsThatItMayNotRead) {
    program_surroundings jo;
    jo.environment["LATCHKEY_AUTH"] = "digest jo:secret";
    const auto leader = elect({}, {}, jo);
    ASSERT_TRUE(eventually([&] { return !leader->out().empty(); }));
    const auto anonymous = elect({"-l"});
    EXPECT_EQ(anonymous->wait(), 77);
    EXPECT_THAT(anonymous->err(), HasSubstr(path_));
    EXPECT_EQ(elect({}, {"--", "true"})->wait(), 77);
}

TEST_F(ElectCommand, KeepsCredentialsFromTheCommandWithoutPassAuth) {
    program_surroundings jo;
    jo.environment["LATCHKEY_AUTH"] = "digest jo:secret";
    const words look{"--", "/bin/sh", "-c", "echo ${LATCHKEY_AUTH-none}"};
    const auto p = elect({"--once"}, look, jo);
    EXPECT_EQ(p->wait(), 0) << p->err();
    EXPECT_EQ(p->out(), "none\n");
    const auto passing = elect({"--once", "--pass-auth"}, look, jo);
    EXPECT_EQ(passing->wait(), 0) << passing->err();
    EXPECT_EQ(passing->out(), "digest jo:secret\n");
}

TEST_F(ElectCommand, CommandThatCannotRunEndsIt) {
    EXPECT_EQ(elect({}, {"--", "no-such-command"})->wait(), 127);
    EXPECT_EQ(elect({}, {"--", folder_.string()})->wait(), 126);
    EXPECT_THAT(candidates(), ElementsAre());
}

TEST_F(ElectCommand, WrongUseNamesValueAndRemedy) {
    const auto refused = [this](const words& arguments, const char* expected) {
        words all{"elect", "-z", servers_};
        all.insert(all.end(), arguments.begin(), arguments.end());
        program p(all);
        EXPECT_EQ(p.wait(), 64) << testing::PrintToString(arguments);
        EXPECT_THAT(p.err(), HasSubstr(expected));
        EXPECT_EQ(p.out(), "");
    };
    refused({}, "which election");
    refused({"-c", "true"}, "which election");
    refused({"relative", "true"}, "relative");
    refused({"-l", "--id", "a", "/a"}, "--id");
    refused({"-l", "--data", "a", "/a"}, "--data");
    refused({"-l", "--once", "/a"}, "--once");
    refused({"-l", "--priority", "1", "/a"}, "--priority");
    refused({"--priority", "high", "/a", "true"}, "'high'");
    refused({"--priority", "1000001", "/a", "true"}, "1000001");
    refused({"-l", "/a", "true"}, "'true'");
    refused({"--id", "", "/a"}, "--id");
    refused({"--id", std::string(513, 'x'), "/a", "true"}, "512");
    refused({"--data", "\xff", "/a", "true"}, "UTF-8");
    refused({"--nonsense", "/a"}, "latchkey elect --help");
    refused({"-t", "4", "--grace", "1.5", "/a"}, "1.5 s");
}

TEST_F(ElectCommand, HelpGoesToStdout) {
    program help({"elect", "--help"});
    EXPECT_EQ(help.wait(), 0);
    EXPECT_THAT(help.out(), HasSubstr("--once"));
    program general({"--help"});
    EXPECT_EQ(general.wait(), 0);
    EXPECT_THAT(general.out(), HasSubstr("\n  elect "));
}

}  // namespace

}  // namespace latchkey::test
