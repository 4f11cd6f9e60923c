#include <latchkey/error.hpp>

#include "tls_fixture.hpp"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

// What connect() says of files that cannot be used, and what happens when they change.

namespace latchkey::test {
namespace {

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

    void note(const log_record& r) {
        const std::lock_guard lock(mutex_);
        log_ += r.text;
    }

    /// Whose certificate the server asks for, and whose log is kept.
    [[nodiscard]] client connect_with_a_certificate() {
        begin_front({.own = authority_.issue(), .client_authority = authority_.certificate()});
        auto how = certified(authority_.issue());
        how.log = [this](const log_record& r) { note(r); };
        client c = client::connect(front_->address(), how);
        EXPECT_TRUE(connects(c));
        return c;
    }

    [[nodiscard]] bool logged(const char* text) {
        const std::lock_guard lock(mutex_);
        return log_.find(text) != std::string::npos;
    }

private:
    std::mutex mutex_;
    std::string log_;
};

TEST_F(TlsFiles, ThatCannotBeUsedAreNamedWithTheReason) {
    const std::string ca = trusting().tls->ca_file;
    const std::string none = "/nonexistent/file.pem";
    const std::string pipe = folder_.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const auto own = *certified(authority_.issue()).tls;
    const auto half = authority_.certificate().substr(0, 200) + "\n-----END CERTIFICATE-----\n";
    const auto text = folder_.write("text.pem", "a list of things to do\n");
    const std::vector<std::pair<std::string, tls_options>> refused{
        {"no authority is trusted; give a CA file", {}},
        {"CA file '" + none + "': No such file or directory", {.ca_file = none}},
        {"give a PEM file", {.ca_file = none}},
        {"certificate file '" + none + "': No such", {.ca_file = ca, .certificate_file = none}},
        {"key file '" + none + "': No such",
         {.ca_file = ca, .certificate_file = own.certificate_file, .key_file = none}},
        {"is not a regular file", {.ca_file = folder_.path("")}},
        {"is not a regular file", {.ca_file = pipe}},
        {"text.pem': holds no certificate in PEM form", {.ca_file = text}},
        {"empty.pem': holds no certificate in PEM form",
         {.ca_file = folder_.write("empty.pem", "")}},
        {"half.pem': holds a broken certificate", {.ca_file = folder_.write("half.pem", half)}},
        {"is given without a certificate file; give both",
         {.ca_file = ca, .key_file = own.key_file}}};
    for (const auto& [reason, files] : refused) {
        EXPECT_THAT(complaint(files), HasSubstr(reason));
    }
}

TEST_F(TlsFiles, OfTheClientThatCannotBeUsedAreNamedWithTheReason) {
    const auto right = authority_.issue();
    const std::string with_a_passphrase =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
        "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgs4bZ0hYtVGQICCAAw\n"
        "-----END ENCRYPTED PRIVATE KEY-----\n";
    const std::vector<std::pair<std::string, test_certificate>> refused{
        {"client.pem': holds no certificate in PEM form", {right.key, right.key}},
        {"client.key': the private key is not that of the certificate",
         {right.certificate, authority_.issue().key}},
        {"client.pem'", {right.certificate, authority_.issue().key}},
        {"the private key has a passphrase; write it without",
         {right.certificate, with_a_passphrase}},
        {"client.pem': the client's certificate expired on 20",
         authority_.issue({.until = -std::chrono::minutes(1)})},
        {"replace it", authority_.issue({.until = -std::chrono::minutes(1)})},
        {"is not valid before 20", authority_.issue({.from = std::chrono::hours(1)})}};
    for (const auto& [reason, own] : refused) {
        EXPECT_THAT(complaint(*certified(own).tls), HasSubstr(reason));
    }
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
    const client c = connect_with_a_certificate();
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
    const client c = connect_with_a_certificate();
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
