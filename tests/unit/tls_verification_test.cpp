#include "scripted_server.hpp"
#include "tls_fixture.hpp"

#include <string>

// Whom a client connects to, and what it says of others.

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TlsVerification : public tls_fixture {
protected:
    /// A front whose certificate is for other names.
    void begin_front_for(const std::string& names) {
        begin_front({.own = authority_.issue({.names = names})});
    }

    [[nodiscard]] std::string by_name() const { return "localhost:" + front_->port(); }
};

TEST_F(TlsVerification, ConnectsToAServerByItsName) {
    begin_front_for("DNS:localhost");
    EXPECT_TRUE(connects(by_name(), trusting()));
    EXPECT_EQ(front_->asked_for(), "localhost");
}

TEST_F(TlsVerification, ConnectsToAServerByItsAddress) {
    begin_front_for("IP:127.0.0.1");
    EXPECT_TRUE(connects(front_->address(), trusting()));
    EXPECT_EQ(front_->asked_for(), "") << "an address is no server name";
}

TEST_F(TlsVerification, ConnectsToTheNameThatIsExpected) {
    begin_front_for("DNS:zk.example.com");
    auto how = trusting();
    how.tls->server_name = "zk.example.com";
    EXPECT_TRUE(connects(front_->address(), how));
    EXPECT_EQ(front_->asked_for(), "zk.example.com");
}

TEST_F(TlsVerification, ANameMayEndWithADot) {
    begin_front_for("DNS:zk.example.com");
    auto how = trusting();
    how.tls->server_name = "zk.example.com.";
    EXPECT_TRUE(connects(front_->address(), how));
}

TEST_F(TlsVerification, AWildcardStandsForOneLabel) {
    begin_front_for("DNS:*.example.com");
    auto how = trusting();
    how.tls->server_name = "zk1.example.com";
    EXPECT_TRUE(connects(front_->address(), how));
    how.tls->server_name = "zk1.eu.example.com";
    EXPECT_THAT(refusal(front_->address(), how), HasSubstr("not for zk1.eu.example.com"));
}

TEST_F(TlsVerification, RefusesTheNameOfAnotherServer) {
    begin_front_for("DNS:other.example.com,IP:192.0.2.1");
    EXPECT_THAT(refusal(trusting()),
                AllOf(StartsWith(front_->address() + ": TLS: "),
                      HasSubstr("is for other.example.com, 192.0.2.1, not for 127.0.0.1")));
    const auto why = refusal(by_name(), trusting());
    EXPECT_THAT(why, AllOf(StartsWith("localhost ("), HasSubstr("not for localhost;")));
}

TEST_F(TlsVerification, TheCommonNameIsNoName) {
    begin_front({.own = authority_.issue({.subject = "127.0.0.1", .names = ""})});
    EXPECT_THAT(refusal(trusting()), HasSubstr("is for no name (it has no subjectAltName)"));
}

TEST_F(TlsVerification, RefusesAnotherAuthority) {
    const test_authority other("somebody else");
    begin_front({.own = other.issue()});
    EXPECT_THAT(refusal(trusting()),
                AllOf(HasSubstr("no authority that this client trusts"),
                      HasSubstr("issued by CN=somebody else"),
                      HasSubstr("check the CA file")));
}

TEST_F(TlsVerification, RefusesAnAuthorityOfTheSameName) {
    const test_authority other;
    begin_front({.own = other.issue()});
    EXPECT_THAT(refusal(trusting()), HasSubstr("no authority that this client trusts"));
}

TEST_F(TlsVerification, RefusesACertificateThatHasExpired) {
    begin_front({.own = authority_.issue({.until = -std::chrono::minutes(1)})});
    EXPECT_THAT(refusal(trusting()), HasSubstr("the server's certificate expired on 20"));
}

TEST_F(TlsVerification, RefusesACertificateOfTheFuture) {
    begin_front({.own = authority_.issue({.from = std::chrono::hours(1)})});
    EXPECT_THAT(refusal(trusting()), HasSubstr("is not valid before 20"));
}

TEST_F(TlsVerification, AClientsCertificateIsNoServers) {
    begin_front({.own = authority_.issue({.purpose = "clientAuth"})});
    EXPECT_THAT(refusal(trusting()), HasSubstr("is not for servers"));
}

TEST_F(TlsVerification, RefusesTls11) {
    begin_front({.own = authority_.issue(), .only = tls_front::version::tls_1_1});
    EXPECT_THAT(refusal(trusting()), HasSubstr("does not speak TLS 1.2 or newer"));
}

TEST_F(TlsVerification, SpeaksTls12AndTls13) {
    for (const auto version : {tls_front::version::tls_1_2, tls_front::version::tls_1_3}) {
        begin_front({.own = authority_.issue(), .only = version});
        EXPECT_TRUE(connects(front_->address(), trusting()));
    }
}

TEST_F(TlsVerification, SaysThatAClientsCertificateIsMissing) {
    for (const auto version : {tls_front::version::tls_1_2, tls_front::version::tls_1_3}) {
        begin_front({.own = authority_.issue(),
                     .client_authority = authority_.certificate(),
                     .only = version});
        EXPECT_THAT(refusal(trusting()),
                    AllOf(HasSubstr("requires a client's certificate"),
                          HasSubstr("give a certificate file and its key")));
    }
}

TEST_F(TlsVerification, SaysThatTheServerRefusesTheClientsCertificate) {
    const test_authority other("somebody else");
    for (const auto version : {tls_front::version::tls_1_2, tls_front::version::tls_1_3}) {
        begin_front({.own = authority_.issue(),
                     .client_authority = authority_.certificate(),
                     .only = version});
        EXPECT_THAT(refusal(certified(other.issue({.subject = "jo"}))),
                    HasSubstr("does not trust the authority of the client's certificate"));
    }
}

TEST_F(TlsVerification, ConnectsWithAClientsCertificate) {
    for (const auto version : {tls_front::version::tls_1_2, tls_front::version::tls_1_3}) {
        begin_front({.own = authority_.issue(),
                     .client_authority = authority_.certificate(),
                     .only = version});
        EXPECT_TRUE(connects(front_->address(), certified(authority_.issue({.subject = "jo"}))));
    }
}

TEST_F(TlsVerification, SaysThatAServerSpeaksNoTls) {
    EXPECT_THAT(refusal(behind_, trusting()),
                HasSubstr("closed the connection during the TLS handshake; its port may be one "
                          "without TLS"));
}

TEST_F(TlsVerification, SaysThatNothingListens) {
    const std::string nobody = scripted_server().address();
    EXPECT_EQ(refusal(nobody, trusting()), nobody + ": Connection refused");
}

}  // namespace
}  // namespace latchkey::test
