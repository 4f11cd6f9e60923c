// What a process tells its guardian arrives as it was said, or not at all.
#include "guardian/guarded_session.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::inline v0 {
namespace {

guarded_session two_servers() {
    return {.client = 7,
            .claim = {.id = -1234567890123,
                      .password = {'\0', 'p', 'a', '\0', '\x7f', 's'},
                      .timeout = std::chrono::milliseconds(30'000)},
            .servers = {{"zk1.example", 2181}, {"::1", 65535}}};
}

guarded_session with_tls() {
    guarded_session s = two_servers();
    s.tls = tls_options{.ca_file = "/etc/ca.pem",
                        .system_authorities = true,
                        .certificate_file = "",
                        .key_file = "/etc/key of\nme.pem",
                        .server_name = "zk"};
    return s;
}

void expect_equal(const guarded_session& is, const guarded_session& expected) {
    EXPECT_EQ(is.client, expected.client);
    EXPECT_EQ(is.claim.id, expected.claim.id);
    EXPECT_EQ(is.claim.password, expected.claim.password);
    EXPECT_EQ(is.claim.timeout, expected.claim.timeout);
    ASSERT_EQ(is.servers.size(), expected.servers.size());
    for (std::size_t i = 0; i < is.servers.size(); ++i) {
        EXPECT_EQ(is.servers[i].host, expected.servers[i].host);
        EXPECT_EQ(is.servers[i].port, expected.servers[i].port);
    }
    ASSERT_EQ(is.tls.has_value(), expected.tls.has_value());
    if (is.tls) {
        EXPECT_EQ(is.tls->ca_file, expected.tls->ca_file);
        EXPECT_EQ(is.tls->system_authorities, expected.tls->system_authorities);
        EXPECT_EQ(is.tls->certificate_file, expected.tls->certificate_file);
        EXPECT_EQ(is.tls->key_file, expected.tls->key_file);
        EXPECT_EQ(is.tls->server_name, expected.tls->server_name);
    }
}

class GuardedSession : public testing::TestWithParam<guarded_session> {};

TEST_P(GuardedSession, ArrivesAsItWasSaid) {
    const std::optional<guarded_session> read = unpacked(packed(GetParam()));
    ASSERT_TRUE(read.has_value());
    expect_equal(*read, GetParam());
}

TEST_P(GuardedSession, IsNothingIfAnyOfItIsMissingOrThereIsMore) {
    const std::string bytes = packed(GetParam());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(unpacked(std::string_view(bytes).substr(0, size)).has_value()) << size;
    }
    EXPECT_FALSE(unpacked(bytes + '\0').has_value());
    EXPECT_FALSE(unpacked(bytes + "x").has_value());
}

TEST_P(GuardedSession, IsNoMessageOfAnotherKind) {
    EXPECT_FALSE(unpacked(guardian_waits).has_value());
    EXPECT_FALSE(unpacked(guardian_may_act).has_value());
    EXPECT_NE(packed(GetParam()), guardian_waits);
    EXPECT_NE(packed(GetParam()), guardian_may_act);
}

INSTANTIATE_TEST_SUITE_P(Sessions,
                         GuardedSession,
                         testing::Values(guarded_session{.client = 1}, two_servers(), with_tls()));

TEST(GuardedSessions, AreNotSaidInPartIfTheyAreTooLong) {
    guarded_session s = two_servers();
    s.servers.assign(2'000, {"a-server-with-a-long-name.example", 2181});
    EXPECT_TRUE(packed(s).empty());
}

}  // namespace
}  // namespace latchkey::inline v0
