#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "client/client_core.hpp"
#include "eventually.hpp"
#include "supervisor/session_end.hpp"

#include <string_view>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <poll.h>

/// A resolver that does not answer one name for a minute.
extern "C" int getaddrinfo(const char* node,
                           const char* service,
                           const addrinfo* wanted,
                           addrinfo** found) {
    static const auto next =
        reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    const bool looks_up = wanted == nullptr || (wanted->ai_flags & AI_NUMERICHOST) == 0;
    if (looks_up && node != nullptr && std::string_view(node) == "silent.example") {
        ::poll(nullptr, 0, 60'000);
        return EAI_AGAIN;
    }
    return next(node, service, wanted, found);
}

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;
using latchkey::test::eventually;

constexpr const char* nobody = "127.0.0.1:1";

class SessionEnd : public ::testing::Test {
protected:
    static session_claim claim_of(const client& c) { return client_core::of(c)->claim(); }

    latchkey::testing::ensemble servers_{{.servers = 2, .one_way = {}}};
    const std::string listening_ = servers_.serve("127.0.0.1", 0);
    const std::string second_ = listening_.substr(listening_.find(',') + 1);
    client client_ = client::connect(listening_);
};

TEST_F(SessionEnd, TakesTheHoldOfAClient) {
    mutex m(client_, "/lock");
    const hold h = m.acquire();
    const auto claim = claim_of(client_);
    EXPECT_EQ(claim.id, client_.session_id());
    // The client, which lives, may take the session back before it is closed.
    EXPECT_TRUE(eventually([&] { return end_session({claim, {}}) && !h.valid(); }));
    EXPECT_TRUE(h.why_lost() == loss_reason::session_expired ||
                h.why_lost() == loss_reason::znode_deleted)  // that came while it had it back
        << to_string(h.why_lost());
}

TEST_F(SessionEnd, TriesTheOtherServers) {
    mutex m(client_, "/lock");
    const hold h = m.acquire();
    auto claim = claim_of(client_);
    claim.server = nobody;
    EXPECT_TRUE(eventually([&] {
        return end_session({claim, {"not a server", nobody, second_}}) && !h.valid();
    }));
}

TEST_F(SessionEnd, NameThatIsNotAnsweredDelaysNoOtherServer) {
    mutex m(client_, "/lock");
    const hold h = m.acquire();
    auto claim = claim_of(client_);
    claim.server = nobody;
    EXPECT_TRUE(eventually([&] {
        return end_session({claim, {"silent.example:2181", second_}}) && !h.valid();
    }));
}

TEST_F(SessionEnd, OfAnUnknownSessionIsConfirmedAtOnce) {
    mutex m(client_, "/lock");
    const hold h = m.acquire();
    auto claim = claim_of(client_);
    claim.id += 1;
    EXPECT_TRUE(end_session({claim, {}}));
    claim = claim_of(client_);
    claim.password[0] = static_cast<char>(~claim.password[0]);
    EXPECT_TRUE(end_session({claim, {}})) << "a wrong password proves nothing";
    EXPECT_TRUE(h.valid());
}

TEST_F(SessionEnd, GivesUpWhenTheServersHaveEndedItAnyway) {
    session_claim claim;
    EXPECT_FALSE(end_session({claim, {second_}})) << "there is none";
    claim.id = 1;
    claim.timeout = 150ms;
    claim.server = nobody;
    EXPECT_FALSE(end_session({claim, {nobody}}));
}

TEST_F(SessionEnd, ClaimIsGoneWithTheSession) {
    EXPECT_TRUE(client_.wait_connected(30s));
    EXPECT_NE(claim_of(client_).id, 0);
    EXPECT_EQ(claim_of(client_).timeout, client_.session_timeout());
    client_.close();
    EXPECT_EQ(claim_of(client_), session_claim());
}

TEST(SessionToEnd, IsTheSameWhenUnpacked) {
    session_to_end s{.claim = {.id = -7, .timeout = 4s, .server = "::1:2181"},
                     .servers = {"zk1:2181", "zk2:2182"}};
    s.claim.password[3] = '\0';
    s.claim.password[4] = '\xff';
    EXPECT_EQ(unpacked(packed(s)), s);
    EXPECT_EQ(unpacked(packed({})), session_to_end());
    EXPECT_EQ(unpacked("too short"), session_to_end());
}

}  // namespace

}  // namespace latchkey::cli
