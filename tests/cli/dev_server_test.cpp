#include "eventually.hpp"
#include "program.hpp"

#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::HasSubstr;

/// The connect string that the server prints.
std::string listens_on(program& server) {
    EXPECT_TRUE(eventually([&] { return server.out().find('\n') != std::string::npos; }));
    return server.out().substr(0, server.out().find('\n'));
}

TEST(DevServer, ServesCommandsUntilASignalEndsIt) {
    program server({"dev-server", "--listen", "127.0.0.1:0", "--servers", "3"});
    const std::string servers = listens_on(server);
    program lock({"lock", "-z", servers, "/lock", "--", "sh", "-c", "echo $LATCHKEY_PATH"});
    EXPECT_EQ(lock.wait(), 0);
    EXPECT_EQ(lock.out(), "/lock\n");
    EXPECT_THAT(server.err(), HasSubstr("keeps nothing"));
    server.send(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
}

TEST(DevServer, SaysWhyItCannotListen) {
    program server({"dev-server", "--listen", "127.0.0.1:0"});
    program second({"dev-server", "--listen", listens_on(server)});
    EXPECT_EQ(second.wait(), 71);
    EXPECT_THAT(second.err(), HasSubstr("cannot listen on " + listens_on(server)));
}

TEST(DevServer, RefusesOptionsThatItCannotUse) {
    const std::vector<std::vector<std::string>> wrong{
        {"--listen", "nowhere"},
        {"--listen", "127.0.0.1:65536"},
        {"--listen", "127.0.0.1:65535", "--servers", "2"},
        {"--servers", "0"},
        {"--servers", "10"},
        {"--tick", "0"},
        {"operand"}};
    for (std::vector<std::string> words : wrong) {
        words.insert(words.begin(), "dev-server");
        EXPECT_EQ(program(words).wait(), 64) << words[1];
    }
    program help({"dev-server", "--help"});
    EXPECT_EQ(help.wait(), 0);
    EXPECT_THAT(help.out(), HasSubstr("Usage: latchkey dev-server"));
}

}  // namespace
}  // namespace latchkey::test
