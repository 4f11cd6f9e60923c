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
    session_claim claim() const { return client_core::of(client_)->claim(); }

    /// The client, which lives, may take the session back before it is closed.
    [[nodiscard]] bool eventually_ends(const session_to_end& s) const {
        return eventually([&] { return end_session(s) && !held_.valid(); });
    }

    /// The claim with a server that does not answer.
    session_claim claim_of_nobody() const {
        session_claim of_nobody = claim();
        of_nobody.server = nobody;
        return of_nobody;
    }

    latchkey::testing::ensemble servers_{{.servers = 2, .one_way = {}}};
    const std::string listening_ = servers_.serve("127.0.0.1", 0);
    const std::string second_ = listening_.substr(listening_.find(',') + 1);
    client client_ = client::connect(listening_);
    mutex mutex_{client_, "/lock"};
    const hold held_ = mutex_.acquire();
};

TEST_F(SessionEnd, TakesTheHoldOfAClient) {
    EXPECT_EQ(claim().id, client_.session_id());
    EXPECT_EQ(claim().timeout, client_.session_timeout());
    EXPECT_TRUE(eventually_ends({claim(), {}}));
    EXPECT_TRUE(held_.why_lost() == loss_reason::session_expired ||
                held_.why_lost() == loss_reason::znode_deleted)  // that came while it had it back
        << to_string(held_.why_lost());
}

TEST_F(SessionEnd, TriesTheOtherServers) {
    EXPECT_TRUE(eventually_ends({claim_of_nobody(), {"not a server", nobody, second_}}));
}

TEST_F(SessionEnd, NameThatIsNotAnsweredDelaysNoOtherServer) {
    EXPECT_TRUE(eventually_ends({claim_of_nobody(), {"silent.example:2181", second_}}));
}

TEST_F(SessionEnd, OfAnUnknownSessionIsConfirmedAtOnce) {
    session_claim other = claim();
    other.id += 1;
    EXPECT_TRUE(end_session({other, {}}));
    other = claim();
    other.password[0] = static_cast<char>(~other.password[0]);
    EXPECT_TRUE(end_session({other, {}})) << "a wrong password proves nothing";
    EXPECT_TRUE(held_.valid());
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
    client_.close();
    EXPECT_EQ(claim(), session_claim());
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
