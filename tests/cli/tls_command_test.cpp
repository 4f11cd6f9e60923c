#include <latchkey/mutex.hpp>

#include "command_fixture.hpp"
#include "tls_ensemble.hpp"

#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<tls_ensemble> secured;

/// A real server that speaks TLS, as the command sees it.
class TlsCommand : public command_fixture {
protected:
    TlsCommand() : command_fixture(secured->address()) {}

    /// A server's first handshakes take long. A client waits for the others only so long.
    static void SetUpTestSuite() {
        secured = std::make_unique<tls_ensemble>();
        client::connect(secured->address(), secured->options_of("owner")).close();
    }

    static void TearDownTestSuite() { secured.reset(); }

    /// Runs a command for a client that trusts this authority.
    running_program run_as(const std::string& client,
                           const std::string& script,
                           const std::string& ca_file = secured->ca_file(),
                           const std::string& limit = "600") const {
        const auto tls = secured->files_of(client);
        return run_sh("lock -t 40 --tls-ca " + ca_file + " --tls-cert " + tls.certificate_file +
                          " --tls-key " + tls.key_file + " -w " + limit + " PATH",
                      script);
    }
};

TEST_F(TlsCommand, RunsACommandUnderALock) {
    EXPECT_EQ(out_of(run_as("owner", "echo $LATCHKEY_PATH")), path_ + "\n");
}

TEST_F(TlsCommand, ThatIsKilledLeavesTheLockFreeWhenItsCommandIsDead) {
    const auto holder = run_as("owner", "echo $$ >$DIR/main; exec sleep 1000");
    const pid_t main = folder_.pid_in("main");
    const auto next =
        run_as("owner", "kill -0 " + std::to_string(main) + " 2>/dev/null || echo free");
    holder->send(SIGKILL);
    EXPECT_EQ(next->wait(30s), 0) << "the session timeout is longer: " << next->err();
    EXPECT_EQ(next->out(), "free\n");
}

TEST_F(TlsCommand, TakesTheFilesFromTheEnvironment) {
    const auto tls = secured->files_of("owner");
    const auto p = run("lock PATH -- true",
                       {},
                       {.environment = {{"LATCHKEY_TLS_CA", tls.ca_file},
                                        {"LATCHKEY_TLS_CERT", tls.certificate_file},
                                        {"LATCHKEY_TLS_KEY", tls.key_file},
                                        {"LATCHKEY_TLS_NAME", "localhost"}}});
    EXPECT_EQ(p->wait(), 0) << p->err();
}

TEST_F(TlsCommand, AStrangerWithAValidCertificateGets77AndLeavesNothing) {
    const client owner = client::connect(secured->address(), secured->options_of("owner"));
    mutex m(owner, path_);
    const hold h = m.acquire();
    EXPECT_THAT(err_of(run_as("stranger", "touch $DIR/ran"), 77), HasSubstr(path_));
    EXPECT_FALSE(folder_.has("ran"));
    EXPECT_EQ(owner.children(path_, read_from::quorum).size(), 1U);
    EXPECT_TRUE(h.valid());
}

TEST_F(TlsCommand, SaysWhyTheServerIsNotTrusted) {
    const test_authority other("somebody else");
    const std::string ca_file = secured->folder().write("other.pem", other.certificate());
    const auto p = in_time(3, "no authority", [&](const std::string& limit) {
        return run_as("owner", "true", ca_file, limit);
    });
    EXPECT_THAT(
        err_of(p, 69),
        AllOf(HasSubstr(secured->address()), HasSubstr("no authority that this client trusts")));
}

TEST_F(TlsCommand, SaysThatACertificateIsNecessary) {
    const auto p = in_time(3, "give a certificate", [&](const std::string& limit) {
        return run("lock --tls-ca " + secured->ca_file() + " -w " + limit + " PATH -- true");
    });
    EXPECT_THAT(err_of(p, 69), HasSubstr("give a certificate file and its key"));
}

}  // namespace
}  // namespace latchkey::test
