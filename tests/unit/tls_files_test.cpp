#include <latchkey/error.hpp>

#include "tls_fixture.hpp"

#include <cstdlib>
#include <mutex>
#include <string>

#include <sys/stat.h>

// What connect() says of files that cannot be used, and what happens when they change.

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TlsFiles : public tls_fixture {
protected:
    /// What connect() says; it must not succeed.
    [[nodiscard]] static std::string complaint(const tls_options& tls) {
        try {
            client_options how;
            how.tls = tls;
            const client c = client::connect("127.0.0.1:1", how);
            ADD_FAILURE() << "such files are accepted";
            return {};
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
            return e.what();
        }
    }

    [[nodiscard]] std::string complaint(const test_certificate& own) const {
        return complaint(*certified(own).tls);
    }

    void note(const log_record& r) {
        const std::lock_guard lock(mutex_);
        log_ += r.text;
    }

    [[nodiscard]] bool logged(const char* text) {
        const std::lock_guard lock(mutex_);
        return log_.find(text) != std::string::npos;
    }

private:
    std::mutex mutex_;
    std::string log_;
};

TEST_F(TlsFiles, AnAuthorityIsNecessary) {
    EXPECT_THAT(complaint(tls_options()), HasSubstr("no authority is trusted; give a CA file"));
}

TEST_F(TlsFiles, AFileThatIsMissingIsNamed) {
    EXPECT_THAT(complaint({.ca_file = "/nonexistent/ca.pem"}),
                AllOf(HasSubstr("CA file '/nonexistent/ca.pem': No such file or directory"),
                      HasSubstr("give a PEM file")));
    auto how = *trusting().tls;
    how.certificate_file = "/nonexistent/own.pem";
    EXPECT_THAT(complaint(how), HasSubstr("certificate file '/nonexistent/own.pem': No such"));
    how = *certified(authority_.issue()).tls;
    how.key_file = "/nonexistent/own.key";
    EXPECT_THAT(complaint(how), HasSubstr("key file '/nonexistent/own.key': No such"));
}

TEST_F(TlsFiles, AFolderOrAPipeIsNoFile) {
    EXPECT_THAT(complaint({.ca_file = folder_.path("")}), HasSubstr("is not a regular file"));
    const auto pipe = folder_.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(complaint({.ca_file = pipe}), HasSubstr("is not a regular file"));
}

TEST_F(TlsFiles, AFileWithoutACertificateIsNamed) {
    EXPECT_THAT(complaint({.ca_file = folder_.write("ca.pem", "a list of things to do\n")}),
                HasSubstr("ca.pem': holds no certificate in PEM form"));
    EXPECT_THAT(complaint({.ca_file = folder_.write("ca.pem", "")}),
                HasSubstr("ca.pem': holds no certificate in PEM form"));
    const auto half = authority_.certificate().substr(0, 200) + "\n-----END CERTIFICATE-----\n";
    EXPECT_THAT(complaint({.ca_file = folder_.write("ca.pem", half)}),
                HasSubstr("ca.pem': holds a broken certificate"));
    auto own = authority_.issue();
    own.certificate = own.key;
    EXPECT_THAT(complaint(own), HasSubstr("client.pem': holds no certificate in PEM form"));
}

TEST_F(TlsFiles, AKeyWithoutACertificateIsRefused) {
    auto how = *trusting().tls;
    how.key_file = folder_.write("client.key", authority_.issue().key);
    EXPECT_THAT(complaint(how), HasSubstr("is given without a certificate file; give both"));
}

TEST_F(TlsFiles, AKeyOfAnotherCertificateIsRefused) {
    auto own = authority_.issue();
    own.key = authority_.issue().key;
    EXPECT_THAT(complaint(own),
                AllOf(HasSubstr("client.key': the private key is not that of the certificate"),
                      HasSubstr("client.pem'")));
}

TEST_F(TlsFiles, AKeyWithAPassphraseIsRefusedAndNotAskedFor) {
    auto own = authority_.issue();
    own.key =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
        "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgs4bZ0hYtVGQICCAAw\n"
        "-----END ENCRYPTED PRIVATE KEY-----\n";
    EXPECT_THAT(complaint(own), HasSubstr("the private key has a passphrase; write it without"));
}

TEST_F(TlsFiles, ACertificateThatHasExpiredIsRefused) {
    EXPECT_THAT(complaint(authority_.issue({.until = -std::chrono::minutes(1)})),
                AllOf(HasSubstr("client.pem': the client's certificate expired on 20"),
                      HasSubstr("replace it")));
    EXPECT_THAT(complaint(authority_.issue({.from = std::chrono::hours(1)})),
                HasSubstr("is not valid before 20"));
}

TEST_F(TlsFiles, TheKeyMayBeInTheFileOfTheCertificate) {
    begin_front({.own = authority_.issue(), .client_authority = authority_.certificate()});
    auto how = trusting();
    how.tls->certificate_file = folder_.write("both.pem", authority_.issue().together());
    EXPECT_TRUE(connects(front_->address(), how));
}

TEST_F(TlsFiles, TheSystemsAuthoritiesAreTrustedOnlyIfAsked) {
    begin_front();
    const auto bundle = folder_.write("bundle.pem", authority_.certificate());
    ASSERT_EQ(::setenv("SSL_CERT_FILE", bundle.c_str(), 1), 0);
    auto how = trusting();
    how.tls = tls_options{.system_authorities = true};
    EXPECT_TRUE(connects(front_->address(), how));
    const test_authority other("somebody else");
    how.tls = tls_options{.ca_file = folder_.write("other.pem", other.certificate())};
    EXPECT_THAT(refusal(front_->address(), how), HasSubstr("no authority that this client trusts"));
    ::unsetenv("SSL_CERT_FILE");
}

TEST_F(TlsFiles, AnAuthorityBelowAnotherOneIsTrustedAsItIs) {
    // The file holds the server's own certificate, and not the authority that signed it.
    const auto own = authority_.issue();
    begin_front({.own = own});
    auto how = trusting();
    how.tls->ca_file = folder_.write("pinned.pem", own.certificate);
    EXPECT_TRUE(connects(front_->address(), how));
}

TEST_F(TlsFiles, FilesAreReadAgainForNewConnections) {
    begin_front();
    const auto how = trusting();
    const client c = client::connect(front_->address(), how);
    ASSERT_TRUE(connects(c));
    const auto session = c.session_id();
    const test_authority successor("successor");
    folder_.write("ca.pem", successor.certificate());
    front_->change({.own = successor.issue()});
    ensemble_.cut(session);
    EXPECT_TRUE(eventually([&] { return front_->handshakes() > 1; })) << c.last_error();
    EXPECT_TRUE(eventually([&] { return c.state() == connection_state::reconnected; }));
    EXPECT_EQ(c.session_id(), session);
}

TEST_F(TlsFiles, FilesThatDoNotFitTogetherAreNotUsed) {
    begin_front({.own = authority_.issue(), .client_authority = authority_.certificate()});
    auto how = certified(authority_.issue());
    how.log = [this](const log_record& r) { note(r); };
    const client c = client::connect(front_->address(), how);
    ASSERT_TRUE(connects(c));
    const auto successor = authority_.issue();
    folder_.write("client.pem", successor.certificate);  // its key comes later
    ensemble_.cut(c.session_id());
    EXPECT_TRUE(eventually([&] { return front_->handshakes() > 1; })) << c.last_error();
    EXPECT_TRUE(eventually([&] { return logged("what was read before stays in use"); }));
    folder_.write("client.key", successor.key);
    EXPECT_TRUE(eventually([&] { return c.state() == connection_state::reconnected; }));
    const auto before = front_->handshakes();
    ensemble_.cut(c.session_id());
    EXPECT_TRUE(eventually([&] { return front_->handshakes() > before; })) << c.last_error();
}

TEST_F(TlsFiles, WhatIsFoundAfterTheHandshakeIsLogged) {
    begin_front({.own = authority_.issue(), .client_authority = authority_.certificate()});
    auto how = certified(authority_.issue());
    how.log = [this](const log_record& r) { note(r); };
    const client c = client::connect(front_->address(), how);
    ASSERT_TRUE(connects(c));
    // So long that the client does not wait until it is read.
    folder_.write("client.pem", std::string(std::size_t{16} << 20U, '\n'));
    ensemble_.cut(c.session_id());
    EXPECT_TRUE(eventually([&] { return c.state() == connection_state::reconnected; }));
    EXPECT_TRUE(eventually([&] { return logged("holds no certificate in PEM form"); }));
    EXPECT_EQ(c.last_error(), "");
}

TEST_F(TlsFiles, AnInProcessEnsembleHasNoUseForThem) {
    client_options how;
    how.tls = tls_options{.ca_file = "/nonexistent/ca.pem", .certificate_file = "/nonexistent"};
    EXPECT_TRUE(connects(ensemble_.connect(how)));
}

}  // namespace
}  // namespace latchkey::test
