#include "program.hpp"

#include <latchkey/version.hpp>

#include "eventually.hpp"
#include "service_socket.hpp"

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Program, PrintsItsUsageWithoutACommand) {
    program latchkey({});
    EXPECT_EQ(latchkey.wait(), 64);
    EXPECT_EQ(latchkey.out(), "");
    EXPECT_THAT(latchkey.err(), StartsWith("Usage: latchkey COMMAND"));
}

TEST(Program, DescribesItselfAndItsCommands) {
    const auto said = [](const std::vector<std::string>& words) {
        program latchkey(words);
        EXPECT_EQ(latchkey.wait(), 0);
        return latchkey.out();
    };
    EXPECT_EQ(said({"help"}), said({"--help"}));
    EXPECT_EQ(said({"help", "lock"}), said({"lock", "--help"}));
    EXPECT_EQ(said({"help", "dev-server"}), said({"dev-server", "-h"}));
    EXPECT_EQ(said({"help", "help"}), said({"help"}));
    program unknown({"help", "nothing"});
    EXPECT_EQ(unknown.wait(), 64);
    EXPECT_THAT(unknown.err(), HasSubstr("'nothing' is not a command"));
    program early({"-z", "zk1:2181", "lock", "/jobs"});
    EXPECT_EQ(early.wait(), 64);
    EXPECT_THAT(early.err(), HasSubstr("'-z' is before the command: options follow it"));
    EXPECT_EQ(program({"help", "lock", "elect"}).wait(), 64);
}

TEST(Program, SaysWhatItWasBuiltFrom) {
    program latchkey({"--version"});
    EXPECT_EQ(latchkey.wait(), 0);
    const library_version now = version();
    EXPECT_THAT(latchkey.out(), StartsWith("latchkey " + std::string(now.library)));
    EXPECT_THAT(latchkey.out(), HasSubstr("C client " + std::string(now.zookeeper_client)));
    EXPECT_THAT(latchkey.out(), HasSubstr(now.commit));
    EXPECT_THAT(latchkey.out(), HasSubstr("\nOpenSSL "));
    EXPECT_THAT(latchkey.out(), HasSubstr(now.openssl));
}

TEST(Program, CompletesWordsForShellsAlone) {
    program unreachable({"__complete", "zsh", "lock", "-z", "127.0.0.1:1", "/"});
    EXPECT_NE(unreachable.wait(), -1);
    EXPECT_THAT(unreachable.out(),
                AnyOf("", ":nospace\n"));  // its time limit ends it, or the connection's
    EXPECT_EQ(unreachable.err(), "");
    EXPECT_EQ(program({"__complete"}).wait(), 64);
}

TEST(Program, TellsTheServiceManagerThatItIsElected) {
    ::unsetenv("LATCHKEY_AUTH");
    program servers({"dev-server", "--listen", "127.0.0.1:0"});
    ASSERT_TRUE(eventually([&] { return servers.out().find('\n') != std::string::npos; }));
    const std::string address = servers.out().substr(0, servers.out().find('\n'));
    const service_socket first;
    const service_socket second;
    const auto elect = [&] {
        return std::vector<std::string>{"elect",
                                        "-z",
                                        address,
                                        "/service",
                                        "--",
                                        "sh",
                                        "-c",
                                        "echo \"<$NOTIFY_SOCKET>\"; exec sleep 1000"};
    };
    program leader(elect(), {.environment = {{"NOTIFY_SOCKET", first.path()}}});
    EXPECT_THAT(first.next("STATUS=connecting"), HasSubstr(address));
    EXPECT_THAT(first.next("READY=1\n"), StartsWith("READY=1\nSTATUS=elected /service/"));
    // The command does not speak for the unit.
    EXPECT_TRUE(eventually([&] { return leader.out() == "<>\n"; }));

    program waiting(elect(), {.environment = {{"NOTIFY_SOCKET", second.path()}}});
    EXPECT_NE(second.next("STATUS=connecting"), "");
    leader.send(SIGTERM);
    EXPECT_NE(leader.wait(), -1);
    EXPECT_NE(first.next("STATUS=resigned"), "");
    EXPECT_NE(second.next("READY=1\n"), "");
}

}  // namespace
}  // namespace latchkey::test
