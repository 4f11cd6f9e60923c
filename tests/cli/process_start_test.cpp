// The descriptors and files that a process of latchkey has.
#include "acting_fixture.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

namespace files = std::filesystem;

const std::vector<std::vector<int>> every_combination{
    {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};

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

/// Of its memory, as /proc shows: root for a process that leaves no core files.
uid_t owner_of(const std::string& file) {
    struct stat status {};

    EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
    return status.st_uid;
}

class Credentials : public acting_fixture {
protected:
    /// A holder with a command, its supervisor, and the command.
    void check(const std::string& line,
               const program_surroundings& around,
               const std::string& secret,
               bool in_supervisor = false) {
        path_ += "x";  // znodes of another identity
        const auto p = run_sh(line, "echo $PPID >$DIR/supervisor; exec sleep 1000", around);
        const auto of_supervisor = has_in_memory(folder_.pid_in("supervisor"), secret);
        const auto of_latchkey = has_in_memory(p->pid(), secret);
        if (!of_latchkey || !of_supervisor) {
            GTEST_SKIP() << "the memory of other processes cannot be read here";
        }
        EXPECT_TRUE(*of_latchkey) << "it needs them";
        EXPECT_EQ(*of_supervisor, in_supervisor);
        files::remove(folder_ / "supervisor");
    }
};

TEST_F(Credentials, OfTheEnvironmentAreInTheMemoryOfTheSupervisorOnlyForTheCommand) {
    for (const std::string secret : {"a:Xq9", "someone:a-long-secret-that-is-not-short"}) {
        const program_surroundings around{.environment = {{"LATCHKEY_AUTH", "digest " + secret}}};
        check("lock PATH", around, secret);
        check("lock --pass-auth PATH", around, secret, true);
    }
}

TEST_F(Credentials, OfAFileAreNotInTheMemoryOfTheSupervisor) {
    const std::string file = folder_ / "auth";
    folder_.write("auth", "digest someone:a-secret-of-a-file\n");
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    check("lock --auth-file " + file + " PATH", {}, "someone:a-secret-of-a-file");
    folder_.write("toml", "auth-file = '" + file + "'\n");
    check("lock PATH",
          {.environment = {{"LATCHKEY_CONFIG", folder_ / "toml"}}},
          "a-secret-of-a-file");
}

TEST_F(Credentials, AreInProcessesThatTheirUserCannotLookInto) {
    const uid_t user = ::geteuid() == 0 ? 65534 : ::geteuid();
    if (owner_of("/proc/sys") == user) {
        GTEST_SKIP() << "in this namespace this user has the id of root";
    }
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
    const auto p = run_sh("lock PATH",
                          "echo $PPID >$DIR/supervisor; echo $$ >$DIR/main; exec sleep 1000",
                          {.user = user});
    const auto owner_of_memory = [](pid_t pid) {
        return owner_of("/proc/" + std::to_string(pid) + "/mem");
    };
    const pid_t main = folder_.pid_in("main");
    EXPECT_EQ(owner_of_memory(p->pid()), 0U) << p->err();
    EXPECT_EQ(owner_of_memory(folder_.pid_in("supervisor")), 0U);
    EXPECT_EQ(owner_of_memory(main), user) << "the command is as it would be without latchkey";
    p->send(SIGKILL);
    EXPECT_TRUE(eventually([&] { return dead(main); })) << "the supervisor still finds it";
}

class ClosedDescriptors : public acting_fixture {
protected:
    running_program run_with(const std::vector<int>& closed,
                             const std::string& line,
                             const words& rest = {}) const {
        return run(line, rest, {.closed = closed});
    }
};

TEST_F(ClosedDescriptors, AreTheNullDeviceForTheCommandAndItsSupervisor) {
    const words shows_descriptors{
        "--",
        "sh",
        "-c",
        "for fd in 0 1 2; do all=\"$all$(readlink /proc/$$/fd/$fd)\n\"; done; "
        "printf \"$all\" >$DIR/fds"};
    for (const std::string line :
         {"lock --verbose PATH", "elect --once --verbose PATH", "join --verbose PATH me"}) {
        for (const auto& closed : every_combination) {
            SCOPED_TRACE(line + PrintToString(closed));
            const auto p = run_with(closed, line, shows_descriptors);
            EXPECT_EQ(p->wait(), 0) << p->err();
            const words fds = lines_of(folder_.content("fds"));
            ASSERT_THAT(fds, SizeIs(3));
            for (const int fd : closed) {
                EXPECT_EQ(fds[static_cast<std::size_t>(fd)], "/dev/null");
            }
            files::remove(folder_ / "fds");
        }
    }
}

TEST_F(ClosedDescriptors, LeaveEachFileToWhatItIsFor) {
    const std::string audit = folder_ / "audit";
    const std::string line =
        "lock --verbose --audit " + audit + " --metrics-file " + audit + ".prom PATH -- true";
    for (const auto& closed : every_combination) {
        SCOPED_TRACE(PrintToString(closed));
        const auto p = run_with(closed, line);
        EXPECT_EQ(p->wait(), 0) << p->err();
        EXPECT_THAT(lines_of(content_of(audit)), AllOf(SizeIs(2), Each(StartsWith("{"))));
        EXPECT_THAT(content_of(audit + ".prom"), Not(HasSubstr("latchkey: ")));
        files::remove(audit);
    }
}

TEST_F(ClosedDescriptors, ChangeNoExitStatus) {
    const auto holder = holding("lock PATH");
    for (const std::string line : {"who PATH",
                                   "leader PATH",
                                   "tree /",
                                   "doctor /",
                                   "ping",
                                   "members PATH/none",
                                   "lock -n PATH -- true",
                                   "barrier set PATH.barrier",
                                   "break PATH nothing",
                                   "help",
                                   "--version",
                                   "nothing",
                                   ""}) {
        const int status = run(line)->wait();
        for (const auto& closed : every_combination) {
            SCOPED_TRACE(line + PrintToString(closed));
            const auto p = run_with(closed, line);
            EXPECT_EQ(p->wait(), status) << p->err();
        }
    }
}

TEST_F(ClosedDescriptors, DoNotDisturbCommandsThatGoOn) {
    for (const std::string line : {"watch PATH",
                                   "elect -l PATH",
                                   "dev-server --listen 127.0.0.1:0",
                                   "serve --listen 127.0.0.1:0"}) {
        const auto p = run_with({0, 2}, line);
        EXPECT_TRUE(eventually_prints(p, "\n")) << line;
        EXPECT_EQ(status_after(SIGTERM, p), 0) << line;
    }
}

}  // namespace
}  // namespace latchkey::test
