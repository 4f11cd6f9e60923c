// The descriptors and files that a process of latchkey has.
#include "acting_fixture.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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

/// Whether a process has the text in its memory; nullopt if that cannot be read.
std::optional<bool> has_in_memory(pid_t pid, const std::string& text) {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::ifstream memory(folder + "/mem", std::ios::binary);
    std::optional<bool> found;
    for (const std::string& line : lines_of(content_of(folder + "/maps"))) {
        std::size_t first = 0;
        std::size_t last = 0;
        char kind[8]{};
        if (std::sscanf(line.c_str(), "%zx-%zx %7s", &first, &last, kind) != 3 || kind[1] != 'w') {
            continue;
        }
        std::string part(last - first, '\0');
        memory.clear();
        memory.seekg(static_cast<std::streamoff>(first));
        memory.read(part.data(), static_cast<std::streamsize>(part.size()));
        part.resize(static_cast<std::size_t>(memory.gcount()));
        if (!part.empty()) {
            found = found.value_or(false) || part.find(text) != std::string::npos;
        }
    }
    return found;
}

class Credentials : public ClosedDescriptors {
protected:
    /// A holder with a command, its supervisor, and the command.
    void check(const words& options,
               program_surroundings around,
               const std::string& secret,
               bool in_supervisor = false) {
        path_ += "x";  // znodes of another identity
        const auto p = lock(
            options, {"--", "sh", "-c", "echo $PPID >$DIR/supervisor; exec sleep 1000"}, around);
        const pid_t supervisor = pid_in("supervisor");
        const auto of_latchkey = has_in_memory(p->pid(), secret);
        const auto of_supervisor = has_in_memory(supervisor, secret);
        if (!of_latchkey || !of_supervisor) {
            GTEST_SKIP() << "the memory of other processes cannot be read here";
        }
        EXPECT_TRUE(*of_latchkey) << "it needs them";
        EXPECT_EQ(*of_supervisor, in_supervisor);
        std::filesystem::remove(folder_ / "supervisor");
    }
};

TEST_F(Credentials, OfTheEnvironmentAreNotInTheMemoryOfTheSupervisor) {
    for (const std::string secret : {"a:Xq9", "someone:a-long-secret-that-is-not-short"}) {
        check({}, {.environment = {{"LATCHKEY_AUTH", "digest " + secret}}}, secret);
    }
}

TEST_F(Credentials, AreInTheMemoryOfTheSupervisorIfTheCommandIsToHaveThem) {
    check({"--pass-auth"}, {.environment = {{"LATCHKEY_AUTH", "digest a:Xq9"}}}, "a:Xq9", true);
}

TEST_F(Credentials, OfAFileAreNotInTheMemoryOfTheSupervisor) {
    const std::string file = (folder_ / "auth").string();
    std::ofstream(file) << "digest someone:a-secret-of-a-file\n";
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    check({"--auth-file", file}, {}, "someone:a-secret-of-a-file");
    std::ofstream(folder_ / "toml") << "auth-file = '" << file << "'\n";
    check({},
          {.environment = {{"LATCHKEY_CONFIG", (folder_ / "toml").string()}}},
          "a-secret-of-a-file");
}

/// Of its memory, as /proc shows: root for a process that leaves no core files.
uid_t owner_of(pid_t pid) {
    struct stat status {};

    EXPECT_EQ(::stat(("/proc/" + std::to_string(pid) + "/mem").c_str(), &status), 0);
    return status.st_uid;
}

TEST_F(Credentials, AreInProcessesThatTheirUserCannotLookInto) {
    const uid_t user = ::geteuid() == 0 ? 65534 : ::geteuid();

    struct stat of_root {};

    ASSERT_EQ(::stat("/proc/sys", &of_root), 0);
    if (of_root.st_uid == user) {
        GTEST_SKIP() << "in this namespace this user has the id of root";
    }
    ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
    program_surroundings around;
    around.user = user;
    const auto p =
        lock({},
             {"--", "sh", "-c", "echo $PPID >$DIR/supervisor; echo $$ >$DIR/main; exec sleep 1000"},
             around);
    const pid_t main = pid_in("main");
    EXPECT_EQ(owner_of(p->pid()), 0U) << p->err();
    EXPECT_EQ(owner_of(pid_in("supervisor")), 0U);
    EXPECT_EQ(owner_of(main), user) << "the command is as it would be without latchkey";
    p->send(SIGKILL);
    EXPECT_TRUE(eventually([&] { return dead(main); })) << "the supervisor still finds it";
}

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
