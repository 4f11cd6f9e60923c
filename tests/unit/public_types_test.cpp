#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/fwd.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/version.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

TEST(FencingToken, IsOneNumberThatIsOrderedAsTheTokens) {
    const fencing_token early{.zxid = 0x100000001, .turn = 1023};
    const fencing_token late{.zxid = 0x100000002, .turn = 0};
    EXPECT_LT(early, late);
    EXPECT_LT(early.value(), late.value());
    EXPECT_EQ(early.value() + 1, late.value());
    for (const fencing_token& t : {early, late, fencing_token{}}) {
        EXPECT_EQ(fencing_token::from_value(t.value()), t);
        EXPECT_EQ(fencing_token::from_string(t.to_string()), t);
        std::ostringstream printed;
        printed << t;
        EXPECT_EQ(printed.str(), t.to_string());
    }
    EXPECT_EQ((std::unordered_set<fencing_token>{early, late, early}.size()), 2U);
    const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    const std::vector<fencing_token> in_order{
        {0, 0}, {1, 0}, {1, 1}, {1, 4'294'967'295U}, {2, 0}, {4'294'967'296, 0}, {largest, 0}};
    EXPECT_TRUE(std::is_sorted(in_order.begin(), in_order.end()));
    EXPECT_EQ(std::adjacent_find(in_order.begin(), in_order.end()), in_order.end());
}

TEST(FencingToken, NothingElseIsReadAsOne) {
    for (const char* text :
         {"", "-1", "+1", " 1", "1 ", "1.2", "0x10", "9223372036854775808", "a"}) {
        EXPECT_FALSE(fencing_token::from_string(text)) << text;
    }
    EXPECT_TRUE(fencing_token::from_string("9223372036854775807"));
}

TEST(FencingToken, ThatDoesNotFitIsAnError) {
    const fencing_token last{.zxid = (std::int64_t{1} << 53) - 1, .turn = 1023};
    EXPECT_EQ(last.value(), std::numeric_limits<std::int64_t>::max());
    const fencing_token beyond{.zxid = std::int64_t{1} << 53};
    EXPECT_THAT([&] { static_cast<void>(beyond.value()); },
                ::testing::Throws<error>(
                    ::testing::Property(&error::code, make_error_code(errc::sequence_exhausted))));
}

TEST(Errors, AreThoseOfTheStandardWhereOneFits) {
    for (const auto& [code, standard] :
         {std::pair{errc::not_authorized, std::errc::permission_denied},
          {errc::authentication_failed, std::errc::permission_denied},
          {errc::unreachable, std::errc::timed_out},
          {errc::not_acquired, std::errc::timed_out},
          {errc::closed, std::errc::operation_canceled},
          {errc::would_deadlock, std::errc::resource_deadlock_would_occur},
          {errc::invalid_argument, std::errc::invalid_argument},
          {errc::no_such_znode, std::errc::no_such_file_or_directory}}) {
        EXPECT_EQ(make_error_code(code), standard) << make_error_code(code).message();
    }
    EXPECT_NE(make_error_code(errc::hold_lost), std::errc::timed_out);
    EXPECT_EQ(make_error_code(errc::would_deadlock), error_kind::caller_bug);
    EXPECT_EQ(make_error_code(errc::unreachable), error_kind::retryable);
    EXPECT_NE(make_error_code(errc::unreachable), error_kind::caller_bug);
}

TEST(Errors, NameWhatIsAtFaultForPrograms) {
    const error plain(errc::closed, "closed");
    EXPECT_EQ(plain.path(), "");
    EXPECT_FALSE(plain.operation_index());
    EXPECT_EQ(plain.server_code(), 0);
    const error known(
        errc::no_such_znode, "none", {.path = "/a", .operation = 1, .server_code = -101});
    const error copy = known;
    EXPECT_EQ(copy.path(), "/a");
    EXPECT_EQ(copy.operation_index(), 1U);
    EXPECT_EQ(copy.server_code(), -101);
}

TEST(Client, CopiesAreOneClientAndTheLastOneClosesIt) {
    testing::ensemble servers;
    client one = servers.connect();
    ASSERT_TRUE(one.wait_connected(std::chrono::seconds(30)));
    const std::int64_t session = one.session_id();
    client two = one;
    one = servers.connect();
    EXPECT_EQ(two.session_id(), session);
    EXPECT_EQ(two.state(), connection_state::connected);
    mutex m(two, "/lock");
    two = one;
    std::error_code ec;
    static_cast<void>(m.acquire(ec));
    EXPECT_EQ(ec, errc::closed);
}

TEST(Version, IsThatOfTheHeaders) {
    EXPECT_EQ(version().library,
              std::to_string(LATCHKEY_VERSION_MAJOR) + '.' +
                  std::to_string(LATCHKEY_VERSION_MINOR) + '.' +
                  std::to_string(LATCHKEY_VERSION_PATCH));
    EXPECT_FALSE(version().zookeeper_client.empty());
    EXPECT_TRUE(version().tls);
    EXPECT_EQ(version().openssl.substr(0, 2), "3.");
}

}  // namespace
}  // namespace latchkey::test
