#include "scripted_server.hpp"
#include "session_probe.hpp"
#include "tls_fixture.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Whom a client connects to, and what it says of others.

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;
using version = tls_front::version;

class TlsVerification : public tls_fixture {
protected:
    /// A front whose certificate is for other names.
    void begin_front_for(const std::string& names) {
        begin_front({.own = authority_.issue({.names = names})});
    }

    [[nodiscard]] std::string by_name() const { return "localhost:" + front_->port(); }

    /// A client that expects this name.
    [[nodiscard]] client_options expecting(const std::string& name) const {
        auto how = trusting();
        how.tls->server_name = name;
        return how;
    }
};

TEST_F(TlsVerification, ConnectsToAServerByItsNameOrAddress) {
    begin_front_for("DNS:localhost");
    EXPECT_TRUE(connects(by_name(), trusting()));
    EXPECT_EQ(front_->asked_for(), "localhost");
    begin_front_for("IP:127.0.0.1");
    EXPECT_TRUE(connects(front_->address(), trusting()));
    EXPECT_EQ(front_->asked_for(), "") << "an address is no server name";
}

TEST_F(TlsVerification, ConnectsToTheNameThatIsExpected) {
    begin_front_for("DNS:zk.example.com,DNS:*.wild.example.com,DNS:zk*.example.com");
    EXPECT_TRUE(connects(front_->address(), expecting("zk.example.com")));
    EXPECT_EQ(front_->asked_for(), "zk.example.com");
    EXPECT_TRUE(connects(front_->address(), expecting("zk.example.com.")));
    EXPECT_TRUE(connects(front_->address(), expecting("zk1.wild.example.com")));
    EXPECT_THAT(refusal(front_->address(), expecting("zk1.eu.wild.example.com")),
                HasSubstr("not for zk1.eu.wild.example.com"))
        << "a wildcard stands for one label";
    EXPECT_THAT(refusal(front_->address(), expecting("zk1.example.com")),
                HasSubstr("not for zk1.example.com"))
        << "and for no part of one";
}

TEST_F(TlsVerification, FollowsNamesThatExchangeTheirAddresses) {
    const auto named = [this](const char* name) {
        return tls_front::options{.own = authority_.issue({.names = std::string("DNS:") + name})};
    };
    std::optional<tls_front> one(std::in_place, behind_, named("a"));
    tls_front other(behind_, named("b"));
    const auto port = [](const tls_front& f) {
        return static_cast<std::uint16_t>(std::stoi(f.port()));
    };
    std::atomic<bool> exchanged = false;
    std::map<std::string, std::function<void(name_resolution)>> asked;
    const auto resolver = [&exchanged, &asked, first = port(*one), second = port(other)](
                              const session_options::endpoint& name, const auto& done) {
        asked[name.host] = done;
        if (asked.size() < 2) {
            return;
        }
        for (const auto& [host, answer] : std::exchange(asked, {})) {  // first of a
            const auto at = (host == "a") == exchanged ? second : first;
            answer({.addresses = {{"127.0.0.1", at, host}}, .failure = {}});
        }
    };
    session_probe s(options_for("a:1,b:1", 10s), resolver, *trusting().tls);
    ASSERT_TRUE(s.wait_for(session_event::kind::connected));
    exchanged = true;
    other.change(named("a"));
    one.reset();
    s.on_loop([&] { s.session().reconnect(); });
    EXPECT_TRUE(s.wait_for(session_event::kind::connected, 2));
}

TEST_F(TlsVerification, RefusesTheNameOfAnotherServer) {
    begin_front_for("DNS:other.example.com,IP:192.0.2.1");
    EXPECT_THAT(refusal(trusting()),
                AllOf(StartsWith(front_->address() + ": TLS: "),
                      HasSubstr("is for other.example.com, 192.0.2.1, not for 127.0.0.1")));
    const auto why = refusal(by_name(), trusting());
    EXPECT_THAT(why, AllOf(StartsWith("localhost ("), HasSubstr("not for localhost;")));
    begin_front({.own = authority_.issue({.subject = "localhost", .names = ""})});
    EXPECT_THAT(refusal(by_name(), trusting()), HasSubstr("it has no subjectAltName"));
    begin_front();
    EXPECT_THAT(refusal(front_->address(), expecting("zk.example.com")),
                HasSubstr("not for zk.example.com"))
        << "it is for the address";
}

TEST_F(TlsVerification, RefusesServersThatAreNotWhatTheyShouldBe) {
    const test_authority other("somebody else");
    const test_authority namesake;
    const test_authority& own = authority_;
    const std::string unknown = "no authority that this client trusts";
    const std::vector<std::pair<std::string, tls_front::options>> refused{
        {unknown, {.own = other.issue()}},
        {"issued by CN=somebody else", {.own = other.issue()}},
        {"check the CA file", {.own = other.issue()}},
        {unknown, {.own = namesake.issue()}},
        {"the server's certificate expired on 20", {.own = own.issue({.until = -1min})}},
        {"is not valid before 20", {.own = own.issue({.from = 1h})}},
        {"is not for servers", {.own = own.issue({.purpose = "clientAuth"})}},
        {"is for no name (it has no subjectAltName)",
         {.own = own.issue({.subject = "127.0.0.1", .names = ""})}},
        {"does not speak TLS 1.2 or newer", {.own = own.issue(), .only = version::tls_1_1}}};
    for (const auto& [reason, server] : refused) {
        begin_front(server);
        EXPECT_THAT(refusal(trusting()), HasSubstr(reason));
    }
}

TEST_F(TlsVerification, OfBothSidesIsPartOfTls12AndOfTls13) {
    const test_authority other("somebody else");
    for (const auto only : {version::tls_1_2, version::tls_1_3}) {
        begin_front({.own = authority_.issue(), .only = only});
        EXPECT_TRUE(connects(front_->address(), trusting()));
        begin_front({.own = authority_.issue(),
                     .client_authority = authority_.certificate(),
                     .only = only});
        EXPECT_THAT(refusal(trusting()),
                    AllOf(HasSubstr("requires a client's certificate"),
                          HasSubstr("give a certificate file and its key")));
        EXPECT_THAT(refusal(certified(other.issue({.subject = "jo"}))),
                    HasSubstr("does not trust the authority of the client's certificate"));
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
