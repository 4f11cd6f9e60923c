#include "program.hpp"

#include <latchkey/version.hpp>

#include "eventually.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
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

/// The socket of a service manager, in a folder of its own.
class service_socket {
public:
    service_socket() {
        std::string name = std::filesystem::temp_directory_path() / "latchkey.XXXXXX";
        folder_ = ::mkdtemp(name.data());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }

    service_socket(const service_socket&) = delete;
    service_socket& operator=(const service_socket&) = delete;

    ~service_socket() {
        ::close(fd_);
        std::filesystem::remove_all(folder_);
    }

    [[nodiscard]] std::string path() const { return folder_ / "notify"; }

    /// The next message that begins so.
    [[nodiscard]] std::string next(const std::string& beginning) const {
        pollfd waiting{fd_, POLLIN, 0};
        while (::poll(&waiting, 1, 60'000) == 1) {
            std::array<char, 4096> text{};
            const auto size = ::recv(fd_, text.data(), text.size(), 0);
            const std::string message(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
            if (message.starts_with(beginning)) {
                return message;
            }
        }
        return "";
    }

private:
    std::filesystem::path folder_;
    const int fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

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
