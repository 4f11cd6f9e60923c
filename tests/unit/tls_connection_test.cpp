#include <latchkey/mutex.hpp>

#include "scripted_server.hpp"
#include "tcp_proxy.hpp"
#include "tls_fixture.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

// What a connection through TLS carries, and what becomes of it when the network fails.

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Remembers what clients send.
class listener final : public traffic_filter {
public:
    explicit listener(std::string& heard) : heard_(heard) {}

    std::vector<piece> take(tcp_proxy::direction way, std::string_view bytes) override {
        if (way == tcp_proxy::direction::to_server) {
            heard_ += bytes;
        }
        return {piece{.bytes = std::string(bytes)}};
    }

    std::string kept(tcp_proxy::direction) override { return {}; }

private:
    std::string& heard_;
};

class TlsConnection : public tls_fixture {
protected:
    [[nodiscard]] static bool locks(const client& c, const std::string& path) {
        mutex m(c, path);
        const hold h = m.try_acquire_for(60s);
        return h.valid();
    }

    [[nodiscard]] static bool eventually_says(const client& c, const std::string& text) {
        return eventually([&] { return c.last_error().starts_with(text); });
    }
};

TEST_F(TlsConnection, NothingCrossesTheNetworkInClearText) {
    begin_front();
    std::string heard;
    {
        tcp_proxy network(
            front_->address(), "127.0.0.1", [&] { return std::make_unique<listener>(heard); });
        auto how = trusting();
        how.auth = {{.scheme = "digest", .secret = "jo:not-for-others"}};
        how.access = creator_only_acl();
        const client c = client::connect(network.address(), how);
        EXPECT_TRUE(locks(c, "/secret-path"));
    }
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard[0], '\x16') << "a handshake comes first";
    EXPECT_EQ(heard.find("not-for-others"), std::string::npos);
    EXPECT_EQ(heard.find("secret-path"), std::string::npos);
}

TEST_F(TlsConnection, SurvivesACutAfterAnyByte) {
    begin_front();
    ensemble_.create("/large", std::string(5000, 'x'));
    tcp_proxy network(front_->address(), "127.0.0.1");
    auto how = trusting();
    how.session_timeout = 4s;  // pauses between attempts are a part of it
    const client c = client::connect(network.address(), how);
    ASSERT_TRUE(connects(c));
    const auto session = c.session_id();
    for (const auto way : {tcp_proxy::direction::to_server, tcp_proxy::direction::to_client}) {
        for (std::uint64_t bytes = 0; bytes < 1500; bytes += 149) {
            const auto accepted = network.accepted();
            network.cut_after(
                bytes, way, bytes % 2 == 0 ? tcp_proxy::ending::fin : tcp_proxy::ending::rst);
            network.cut(tcp_proxy::ending::fin);  // so that the next handshake is cut
            EXPECT_TRUE(eventually([&] { return network.accepted() > accepted; }));
            EXPECT_TRUE(eventually([&] {
                std::error_code ec;
                const auto found = c.get("/large", ec);
                return !ec && found && found->data.size() == 5000;
            })) << "after "
                << bytes << ": " << c.last_error();
        }
    }
    EXPECT_EQ(c.session_id(), session);
}

TEST_F(TlsConnection, AHandshakeThatStallsEndsInTimeAndDisturbsNoOtherClient) {
    begin_front();
    const client other = client::connect(front_->address(), trusting());
    mutex m(other, "/lock");
    const hold h = m.acquire();

    tcp_proxy network(front_->address(), "127.0.0.1");
    network.stall(tcp_proxy::direction::to_client);
    const client c = client::connect(network.address(), trusting());
    EXPECT_TRUE(eventually_says(c, network.address() + ": no answer to the TLS handshake within "));
    // While it stalls, again and again.
    const auto attempts = network.accepted();
    EXPECT_TRUE(eventually([&] {
        EXPECT_TRUE(locks(other, "/another"));
        return network.accepted() > attempts + 2;
    }));
    EXPECT_TRUE(h.valid());
    EXPECT_NE(c.state(), connection_state::connected);
    network.pass();
    EXPECT_TRUE(connects(c));
}

TEST_F(TlsConnection, AServerThatNeverAcceptsEndsInTime) {
    const full_listener full;
    const client c = client::connect(full.address(), trusting());
    EXPECT_TRUE(eventually_says(c, full.address() + ": no answer within "));
}

TEST_F(TlsConnection, AServerThatIsSilentAfterTheHandshakeEndsInTime) {
    const scripted_server silent(scripted_server::greeting::silence);
    front_.emplace(silent.address(), tls_front::options{.own = authority_.issue()});
    const client c = client::connect(front_->address(), trusting());
    EXPECT_TRUE(eventually_says(c, front_->address() + ": no answer after the TLS handshake"));
}

TEST_F(TlsConnection, GoesOnToTheNextServer) {
    const test_authority other("somebody else");
    tls_front wrong(behind_, {.own = other.issue()});
    begin_front();
    const client c = client::connect(wrong.address() + "," + front_->address(), trusting());
    EXPECT_TRUE(connects(c));
    EXPECT_EQ(wrong.from_clients(), 0U);
}

TEST_F(TlsConnection, ManyClientsAtOnce) {
    begin_front();
    std::vector<client> all;
    for (int i = 0; i < 40; ++i) {
        all.push_back(client::connect(front_->address(), trusting()));
    }
    for (const auto& c : all) {
        EXPECT_TRUE(locks(c, "/lock"));
    }
}

}  // namespace
}  // namespace latchkey::test
