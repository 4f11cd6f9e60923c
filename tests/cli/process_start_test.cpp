// The descriptors and files that a process of latchkey has.
#include "acting_fixture.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::vector<int>> every_combination{
    {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream rest(text);
    for (std::string line; std::getline(rest, line);) {
        lines.push_back(line);
    }
    return lines;
}

class ClosedDescriptors : public acting_fixture {
protected:
    [[nodiscard]] program_surroundings closing(const std::vector<int>& closed) const {
        program_surroundings around;
        around.environment["LATCHKEY_SERVERS"] = servers_;
        around.closed = closed;
        return around;
    }
};

class OutputFiles : public ClosedDescriptors {};

TEST_F(ClosedDescriptors, AreTheNullDeviceForTheCommandAndItsSupervisor) {
    for (const char* command : {"lock", "elect", "join"}) {
        for (const auto& closed : every_combination) {
            SCOPED_TRACE(command + testing::PrintToString(closed));
            words options{"--verbose"};
            if (command == std::string("elect")) {
                options.emplace_back("--once");
            }
            words rest{"--",
                       "sh",
                       "-c",
                       "for fd in 0 1 2; do all=\"$all$(readlink /proc/$$/fd/$fd)\n\"; done; "
                       "printf \"$all\" >$DIR/fds"};
            if (command == std::string("join")) {
                rest.insert(rest.begin(), "me");
            }
            const auto p = start(command, options, rest, closing(closed));
            EXPECT_EQ(p->wait(), 0) << p->err();
            const auto fds = lines_of(content_of(folder_ / "fds"));
            ASSERT_EQ(fds.size(), 3U);
            for (const int fd : closed) {
                EXPECT_EQ(fds[static_cast<std::size_t>(fd)], "/dev/null");
            }
            std::filesystem::remove(folder_ / "fds");
        }
    }
}

TEST_F(ClosedDescriptors, LeaveEachFileToWhatItIsFor) {
    for (const auto& closed : every_combination) {
        SCOPED_TRACE(testing::PrintToString(closed));
        const std::string audit = (folder_ / "audit").string();
        const auto p = start("lock",
                             {"--verbose", "--audit", audit, "--metrics-file", audit + ".prom"},
                             {"--", "true"},
                             closing(closed));
        EXPECT_EQ(p->wait(), 0) << p->err();
        const auto lines = lines_of(content_of(audit));
        EXPECT_EQ(lines.size(), 2U);
        EXPECT_THAT(lines, Each(StartsWith("{")));
        EXPECT_THAT(lines_of(content_of(audit + ".prom")),
                    Each(testing::Not(HasSubstr("latchkey: "))));
        std::filesystem::remove(audit);
    }
}

TEST_F(ClosedDescriptors, ChangeNoExitStatus) {
    const auto holder = holding();
    const std::vector<words> commands{{"who", path_},
                                      {"leader", path_},
                                      {"tree", "/"},
                                      {"doctor", "/"},
                                      {"ping"},
                                      {"members", path_ + "/none"},
                                      {"lock", "-n", path_, "--", "true"},
                                      {"barrier", "set", path_ + ".barrier"},
                                      {"break", path_, "nothing"},
                                      {"help"},
                                      {"--version"},
                                      {"nothing"},
                                      {}};
    for (const words& command : commands) {
        const int status = program(command, closing({})).wait();
        for (const auto& closed : every_combination) {
            SCOPED_TRACE(testing::PrintToString(command) + testing::PrintToString(closed));
            program p(command, closing(closed));
            EXPECT_EQ(p.wait(), status) << p.err();
        }
    }
}

TEST_F(ClosedDescriptors, DoNotDisturbCommandsThatGoOn) {
    const std::vector<words> commands{{"watch", path_},
                                      {"elect", "-l", path_},
                                      {"dev-server", "--listen", "127.0.0.1:0"},
                                      {"serve", "--listen", "127.0.0.1:0"}};
    for (const words& command : commands) {
        program p(command, closing({0, 2}));
        EXPECT_TRUE(eventually([&] { return !p.out().empty(); })) << command.front();
        p.send(SIGTERM);
        EXPECT_EQ(p.wait(), 0) << command.front();
    }
}

TEST_F(OutputFiles, AreRefusedIfAnotherUserHasPlantedThem) {
    std::filesystem::create_directory(folder_ / "shared");
    std::filesystem::permissions(folder_ / "shared", std::filesystem::perms::all);
    std::filesystem::create_symlink(folder_ / "precious", folder_ / "shared/link");
    for (const auto& closed : every_combination) {
        const auto p = start("lock",
                             {"--audit", (folder_ / "shared/link").string()},
                             {"--", "touch", (folder_ / "ran").string()},
                             closing(closed));
        EXPECT_EQ(p->wait(), 64);
        EXPECT_FALSE(exists("precious") || exists("ran"));
    }
}

TEST_F(OutputFiles, OfMetricsAreReplacedAndWhatIsPlantedBesideThemIsNotUsed) {
    std::filesystem::create_directory(folder_ / "shared");
    std::filesystem::permissions(folder_ / "shared", std::filesystem::perms::all);
    std::ofstream(folder_ / "precious") << "precious";
    const auto p =
        start("lock",
              {"--metrics-file", (folder_ / "shared/x.prom").string()},
              {"--", "sh", "-c", "touch $DIR/began; until test -e $DIR/end; do sleep 0.01; done"},
              closing({0, 1}));
    ASSERT_TRUE(eventually_exists("began"));
    const std::string name = "shared/x.prom." + std::to_string(p->pid());
    for (const char* end : {".tmp", ""}) {
        std::filesystem::create_symlink(folder_ / "precious", folder_ / (name + end));
    }
    std::ofstream(folder_ / "end") << "";
    EXPECT_EQ(p->wait(), 0) << p->err();
    EXPECT_EQ(content_of(folder_ / "precious"), "precious");
    EXPECT_THAT(content_of(folder_ / "shared/x.prom"), HasSubstr("latchkey_hold_seconds_count"));
}

}  // namespace
}  // namespace latchkey::test
