#include "supervisor/session_end.hpp"

#include <latchkey/mutex.hpp>

#include "client/client_core.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {

namespace {

TEST(RealSessionEnd, TakesTheHoldOfAClientThatIsAlive) {
    const auto client = client::connect(real_ensemble::shared().connect_string());
    mutex m(client, real_ensemble::fresh_path());
    const hold h = m.acquire();
    const session_claim claim = client_core::of(client)->claim();
    EXPECT_EQ(claim.id, client.session_id());
    // The client may take the session back before it is closed.
    EXPECT_TRUE(eventually([&] { return cli::end_session({claim, {}}) && !h.valid(); }));
    // A client that has taken it back may see first that its znode is gone.
    EXPECT_THAT(h.why_lost(),
                ::testing::AnyOf(loss_reason::session_expired, loss_reason::znode_deleted));
}

}  // namespace

}  // namespace latchkey::test
