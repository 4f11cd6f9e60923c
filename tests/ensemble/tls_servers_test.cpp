#include <latchkey/error.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "tcp_proxy.hpp"
#include "tls_ensemble.hpp"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// A real server that speaks TLS, and the identities of clients in its access control lists.

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class TlsServers : public ::testing::Test {
protected:
    static void SetUpTestSuite() { shared_ = std::make_unique<tls_ensemble>(); }

    static void TearDownTestSuite() { shared_.reset(); }

    [[nodiscard]] client connect(const std::string& name) const {
        return client::connect(ensemble_.address(), ensemble_.options_of(name));
    }

    [[nodiscard]] static std::string refusal(const std::string& server, const client_options& how) {
        const client c = client::connect(server, how);
        std::string why;
        EXPECT_TRUE(eventually([&] {
            why = c.last_error();
            return why.find("TLS") != std::string::npos &&
                   why.find(": no answer") == std::string::npos;
        })) << why;
        EXPECT_EQ(c.state(), connection_state::connecting);
        return why;
    }

    static std::unique_ptr<tls_ensemble> shared_;
    tls_ensemble& ensemble_ = *shared_;
    std::string path_ = real_ensemble::fresh_path();
};

std::unique_ptr<tls_ensemble> TlsServers::shared_;

TEST_F(TlsServers, CarryLargeData) {
    const client c = connect("owner");
    static_cast<void>(c.transact({operation::create(path_, "")}));
    const std::string data(900'000, 'x');
    static_cast<void>(c.transact({operation::set(path_, data)}));
    EXPECT_EQ(c.get(path_)->data.size(), data.size());
}

TEST_F(TlsServers, AStrangerHasNoRightsAndLeavesNothing) {
    const client owner = connect("owner");
    mutex ours(owner, path_);
    const hold h = ours.acquire();

    // One that comes in the clear has no identity at all.
    for (const client& stranger :
         {connect("stranger"), client::connect(ensemble_.servers().address(1))}) {
        for (const std::string& path : {path_, path_ + "/below"}) {
            std::error_code ec;
            EXPECT_FALSE(mutex(stranger, path).try_acquire_for(60s, ec));
            EXPECT_EQ(ec, errc::not_authorized) << path;
        }
    }
    EXPECT_EQ(owner.children(path_, read_from::quorum).size(), 1U);
    EXPECT_TRUE(h.valid());
}

TEST_F(TlsServers, AListOfSubjectsLetsThemIn) {
    auto how = ensemble_.options_of("owner");
    how.access = {{"x509", "CN=owner", permission::all}, {"x509", "CN=friend", permission::all}};
    const client owner = client::connect(ensemble_.address(), how);
    mutex ours(owner, path_);
    hold h = ours.acquire();

    how.tls = ensemble_.files_of("friend");
    const client mate = client::connect(ensemble_.address(), how);
    mutex theirs(mate, path_);
    EXPECT_FALSE(theirs.try_acquire());
    h.release();
    const hold next = theirs.acquire();
    EXPECT_TRUE(next.valid());

    const client stranger = connect("stranger");
    EXPECT_THROW(static_cast<void>(mutex(stranger, path_).acquire()), error);
}

TEST_F(TlsServers, ThatEnforceItServeClientsWithACertificateAlone) {
    tls_ensemble enforcing({"enforce.auth.enabled=true", "enforce.auth.schemes=x509"});
    const client owner = client::connect(enforcing.address(), enforcing.options_of("owner"));
    mutex ours(owner, path_);
    const hold h = ours.acquire();

    client_options how;
    how.auth = {{.scheme = "digest", .secret = "any:body"}};
    const client stranger = client::connect(enforcing.servers().address(1), how);
    std::error_code ec;
    EXPECT_FALSE(mutex(stranger, path_).try_acquire_for(3s, ec));
    EXPECT_EQ(ec, errc::authentication_failed) << ec.message();
    EXPECT_EQ(owner.children(path_, read_from::quorum).size(), 1U);
    EXPECT_TRUE(h.valid());
}

TEST_F(TlsServers, RefuseACertificateOfAnotherAuthority) {
    const test_authority other("somebody else");
    const auto own = other.issue({.subject = "owner", .names = ""});
    client_options how;
    how.tls = tls_options{.ca_file = ensemble_.ca_file(),
                          .certificate_file = ensemble_.folder().write("o.pem", own.certificate),
                          .key_file = ensemble_.folder().write("o.key", own.key)};
    EXPECT_THAT(refusal(ensemble_.address(), how),
                AnyOf(HasSubstr("does not accept the client's certificate"),
                      HasSubstr("does not trust the authority of the client's certificate")));
}

TEST_F(TlsServers, RefuseACertificateThatHasExpiredMeanwhile) {
    const auto until = 4s;
    const auto own = ensemble_.authority().issue({.subject = "owner", .names = "", .until = until});
    const auto expired = std::chrono::system_clock::now() + until + 1s;
    client_options how;
    how.tls = tls_options{.ca_file = ensemble_.ca_file(),
                          .certificate_file = ensemble_.folder().write("e.pem", own.certificate),
                          .key_file = ensemble_.folder().write("e.key", own.key)};
    tcp_proxy network(ensemble_.address(), "127.0.0.1");
    network.refuse();
    const client c = client::connect(network.address(), how);
    EXPECT_TRUE(eventually([&] { return std::chrono::system_clock::now() > expired; }));
    network.pass();
    EXPECT_TRUE(eventually([&] {
        return c.last_error().find("and expired on 20") != std::string::npos;
    })) << c.last_error();
}

TEST_F(TlsServers, APortWithoutTlsIsNamedAsSuch) {
    EXPECT_THAT(
        refusal(ensemble_.servers().address(1), ensemble_.options_of("owner")),
        AnyOf(HasSubstr("its port may be one without TLS"), HasSubstr("does not speak TLS")));
}

}  // namespace
}  // namespace latchkey::test
