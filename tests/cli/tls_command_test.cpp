#include <latchkey/mutex.hpp>

#include "lock_fixture.hpp"
#include "tls_ensemble.hpp"

#include <memory>
#include <string>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<tls_ensemble> secured;

/// A real server that speaks TLS, as the command sees it.
class TlsCommand : public lock_fixture {
protected:
    TlsCommand() : lock_fixture(secured->address()) {}

    /// A server's first handshakes take long. A client waits for the others only so long.
    static void SetUpTestSuite() {
        secured = std::make_unique<tls_ensemble>();
        client::connect(secured->address(), secured->options_of("owner")).close();
    }

    static void TearDownTestSuite() { secured.reset(); }

    /// The options of a client.
    static words files_of(const std::string& name) {
        const auto tls = secured->files_of(name);
        return {
            "--tls-ca", tls.ca_file, "--tls-cert", tls.certificate_file, "--tls-key", tls.key_file};
    }

    static words joined(words one, const words& other) {
        one.insert(one.end(), other.begin(), other.end());
        return one;
    }
};

TEST_F(TlsCommand, RunsACommandUnderALock) {
    const auto run = lock(files_of("owner"), {"--", "sh", "-c", "echo $LATCHKEY_PATH"});
    EXPECT_EQ(run->wait(), 0) << run->err();
    EXPECT_EQ(run->out(), path_ + "\n");
}

TEST_F(TlsCommand, TakesTheFilesFromTheEnvironment) {
    const auto tls = secured->files_of("owner");
    const auto run = lock({},
                          {"--", "true"},
                          {.environment = {{"LATCHKEY_TLS_CA", tls.ca_file},
                                           {"LATCHKEY_TLS_CERT", tls.certificate_file},
                                           {"LATCHKEY_TLS_KEY", tls.key_file},
                                           {"LATCHKEY_TLS_NAME", "localhost"}}});
    EXPECT_EQ(run->wait(), 0) << run->err();
}

TEST_F(TlsCommand, AStrangerWithAValidCertificateGets77AndLeavesNothing) {
    const client owner = client::connect(secured->address(), secured->options_of("owner"));
    mutex m(owner, path_);
    const hold h = m.acquire();
    const auto run = lock(files_of("stranger"), {"--", "touch", (folder_ / "ran").string()});
    EXPECT_EQ(run->wait(), 77);
    EXPECT_THAT(run->err(), HasSubstr(path_));
    EXPECT_FALSE(exists("ran"));
    EXPECT_EQ(owner.children(path_, read_from::quorum).size(), 1U);
    EXPECT_TRUE(h.valid());
}

TEST_F(TlsCommand, SaysWhyTheServerIsNotTrusted) {
    const test_authority other("somebody else");
    auto options = files_of("owner");
    options[1] = secured->folder().write("other.pem", other.certificate());
    const auto run = in_time(3, "no authority", [&](const std::string& limit) {
        return lock(joined(options, {"-w", limit}), {"--", "true"});
    });
    EXPECT_EQ(run->wait(), 69);
    EXPECT_THAT(
        run->err(),
        AllOf(HasSubstr(secured->address()), HasSubstr("no authority that this client trusts")));
}

TEST_F(TlsCommand, SaysThatACertificateIsNecessary) {
    const auto run = in_time(3, "give a certificate", [&](const std::string& limit) {
        return lock({"--tls-ca", secured->ca_file(), "-w", limit}, {"--", "true"});
    });
    EXPECT_EQ(run->wait(), 69);
    EXPECT_THAT(run->err(), HasSubstr("give a certificate file and its key"));
}

TEST_F(TlsCommand, SaysWhichFileCannotBeUsed) {
    const auto run = lock({"--tls-ca", "/nonexistent/ca.pem"}, {"--", "true"});
    EXPECT_EQ(run->wait(), 64);
    EXPECT_THAT(run->err(), HasSubstr("CA file '/nonexistent/ca.pem': No such file"));
}

}  // namespace
}  // namespace latchkey::test
