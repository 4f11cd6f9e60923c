#include "ensemble/server/identity.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

// By `openssl dgst -sha1 -binary | base64`. All bits of the digest count, so a library that returns
// it in other units than bytes is noticed.
TEST(DigestIdentity, IsTheNameAndTheDigestThatOtherToolsCompute) {
    const std::pair<const char*, const char*> known[] = {
        {"super:secret", "super:lK75jTNcA+U9vtVEw5vB51mj/w4="},
        {"user:pass", "user:smGaoVKd/cQkjm7b88GyorAUz20="},
        {"a:b:c", "a:cLzgnoJ6mP5qz3w+mwvPE2vDgu0="},
        {"nocolon", "nocolon:Ra+cHr2ZoHvBjtNArFGNGlVie4g="},
        {":x", ":57b19mLA2vMhI/edHul/TytWqWE="},
        {"u:", "u:IX23jg4I7W2/R//KoV8VL1UfuBM="},
        {"j\xc3\xb6:p\xc3\xa4\xe2\x82\xac", "j\xc3\xb6:G/vMeuBRdWiZbgUN4Zbr0sIcGdI="},
    };
    for (const auto& [secret, id] : known) {
        const auto who = model::authenticate({"digest", secret});
        ASSERT_TRUE(who) << secret;
        EXPECT_EQ(who->scheme, "digest");
        EXPECT_EQ(who->id, id);
    }
}

}  // namespace
}  // namespace latchkey::test
