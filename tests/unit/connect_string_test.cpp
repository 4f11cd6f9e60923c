#include "session/connect_string.hpp"

#include <latchkey/error.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {

// For messages of failed tests.
void PrintTo(const connect_target& t, std::ostream* out) {
    for (const auto& s : t.servers) {
        *out << '<' << s.host << ">:" << s.port << ' ';
    }
    *out << '<' << t.chroot << '>';
}

namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct good_case {
    const char* why;
    std::string text;
    connect_target target;
};

class ConnectString : public ::testing::TestWithParam<good_case> {};

TEST_P(ConnectString, IsRead) {
    EXPECT_EQ(parse_connect_string(GetParam().text), GetParam().target);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    ConnectString,
    ::testing::Values(
        good_case{"name", "zk1", {{{"zk1", 2181}}, ""}},
        good_case{"port", "zk1:2182", {{{"zk1", 2182}}, ""}},
        good_case{"lowest_port", "zk1:1", {{{"zk1", 1}}, ""}},
        good_case{"highest_port", "zk1:65535", {{{"zk1", 65535}}, ""}},
        good_case{"several", "a:1,b,c:3", {{{"a", 1}, {"b", 2181}, {"c", 3}}, ""}},
        good_case{"blanks_around", " a:1 , b ", {{{"a", 1}, {"b", 2181}}, ""}},
        good_case{"line_feed", "a:1\n", {{{"a", 1}}, ""}},
        good_case{"line_of_windows", "a:1\r\n", {{{"a", 1}}, ""}},
        good_case{"folded", "\ta:1,\n  b:2,\r\n\tc:3 \n", {{{"a", 1}, {"b", 2}, {"c", 3}}, ""}},
        good_case{"folded_chroot", "a:1,\nb:2/app\n", {{{"a", 1}, {"b", 2}}, "/app"}},
        good_case{"address", "10.0.0.1:2181", {{{"10.0.0.1", 2181}}, ""}},
        good_case{
            "domain", "zk-1.prod_eu.example.com.", {{{"zk-1.prod_eu.example.com.", 2181}}, ""}},
        good_case{"ipv6", "[::1]:2182", {{{"::1", 2182}}, ""}},
        good_case{"ipv6_without_port", "[2001:db8::1]", {{{"2001:db8::1", 2181}}, ""}},
        good_case{"ipv6_scope", "[fe80::1%eth0]:1", {{{"fe80::1%eth0", 1}}, ""}},
        good_case{"ipv6_mapped", "[::ffff:10.0.0.1]", {{{"::ffff:10.0.0.1", 2181}}, ""}},
        good_case{"chroot", "a,b/app", {{{"a", 2181}, {"b", 2181}}, "/app"}},
        good_case{"deep_chroot", "a:1/app/x", {{{"a", 1}}, "/app/x"}},
        good_case{"chroot_after_ipv6", "[::1]:1/app", {{{"::1", 1}}, "/app"}},
        good_case{"chroot_of_the_root", "a:1/", {{{"a", 1}}, ""}},
        good_case{"blank_after_chroot", "a:1/app ", {{{"a", 1}}, "/app"}},
        good_case{"duplicate", "a,a:2181,b,a", {{{"a", 2181}, {"b", 2181}}, ""}},
        good_case{"other_port_is_no_duplicate", "a:1,a:2", {{{"a", 1}, {"a", 2}}, ""}}),
    [](const auto& tested) { return std::string(tested.param.why); });

struct bad_case {
    const char* why;
    std::string text;
    const char* says;
};

class BadConnectString : public ::testing::TestWithParam<bad_case> {};

TEST_P(BadConnectString, IsRefusedWithTheRemedy) {
    try {
        const connect_target t = parse_connect_string(GetParam().text);
        FAIL() << ::testing::PrintToString(t);
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        EXPECT_THAT(e.what(), HasSubstr(GetParam().says));
        EXPECT_THAT(e.what(), Not(HasSubstr("\x1B")));
        EXPECT_LT(std::string_view(e.what()).size(), 6000U);
    }
}

const char* const no_port = "is not a port: use a number from 1 to 65535";
const char* const no_host = "is not a host name or address";

INSTANTIATE_TEST_SUITE_P(
    Table,
    BadConnectString,
    ::testing::Values(
        bad_case{"empty", "", "no server is named"},
        bad_case{"blank", "   ", "no server is named"},
        bad_case{"only_a_chroot", "/app", "no server is named"},
        bad_case{"only_a_comma", ",", "an entry is empty"},
        bad_case{"comma_at_the_end", "a,", "an entry is empty"},
        bad_case{"comma_in_front", ",a", "an entry is empty"},
        bad_case{"commas", "a,,b", "an entry is empty"},
        bad_case{"comma_before_chroot", "a,/app", "an entry is empty"},
        bad_case{"no_host", ":2181", "the host is missing"},
        bad_case{"no_address", "[]:2181", "the host is missing"},
        bad_case{"colon_without_port", "a:", no_port},
        bad_case{"ipv6_colon_without_port", "[::1]:", no_port},
        bad_case{"port_zero", "a:0", no_port},
        bad_case{"port_too_high", "a:65536", no_port},
        bad_case{"port_wraps_16_bits", "a:67717", no_port},
        bad_case{"port_wraps_32_bits", "a:4294969477", no_port},
        bad_case{"port_overflows", "a:99999999999999999999999999", no_port},
        bad_case{"port_negative", "a:-1", no_port},
        bad_case{"port_signed", "a:+1", no_port},
        bad_case{"port_hex", "a:0x885", no_port},
        bad_case{"port_blank", "a: 2181", no_port},
        bad_case{"port_with_junk", "a:2181x", no_port},
        bad_case{"service_name", "a:zookeeper", no_port},
        bad_case{"ipv6_bare", "::1:2181", "write an IPv6 address in brackets"},
        bad_case{"two_ports", "a:1:2", "write an IPv6 address in brackets"},
        bad_case{"bracket_open", "[::1:2181", "']' is missing"},
        bad_case{"junk_after_bracket", "[::1]2181", "expected ':'"},
        bad_case{"bracket_twice", "[[::1]]:2181", no_host},
        bad_case{"bracket_around_nothing_numeric", "[zk1]:2181", no_host},
        bad_case{"blank_inside", "a b:2181", no_host},
        bad_case{"semicolon", "a:1;b", no_port},
        bad_case{"url", "zk://a:2181", "without \"zk://\", as in \"a:2181\""},
        bad_case{
            "url_of_http", "http://zk1:2181/app", "without \"http://\", as in \"zk1:2181/app\""},
        bad_case{"url_of_zookeeper", "zookeeper://zk1,zk2/app", "has the form of a URL"},
        bad_case{
            "url_after_a_server", "zk1:2181, https://zk2", "without \"https://\", as in \"zk2\""},
        bad_case{"url_without_scheme", "://zk1", "has the form of a URL"},
        bad_case{"huge_url",
                 std::string(1'000'000, 'x') + "://" + std::string(1'000'000, '\x1B'),
                 "has the form of a URL"},
        bad_case{"user", "me@a:1", no_host},
        bad_case{"user_with_a_password", "me:secret@a:1", "servers \"@a:1\""},
        bad_case{"several_with_semicolons", "a:1;b:2", "separate servers by commas"},
        bad_case{"several_with_blanks", "a:1 b:2", "separate servers by commas"},
        bad_case{"newline", "a\n,b", no_host},
        bad_case{"nul", "a\0b"s, no_host},
        bad_case{"escape_sequence", "a\x1B[2J", no_host},
        bad_case{"not_ascii", "z\u00FCrich", no_host},
        bad_case{"too_long_a_host", std::string(254, 'a'), no_host},
        bad_case{"huge", std::string(1'000'000, '\x1B'), no_host},
        bad_case{"huge_chroot", "a/" + std::string(1'000'000, '\x1B'), "bytes long"},
        bad_case{"chroot_with_trailing_slash", "a/app/", "empty component"},
        bad_case{"chroot_doubled_slash", "a//app", "empty component"},
        bad_case{"chroot_with_dots", "a/app/../x", "component '..'"},
        bad_case{"chroot_of_zookeeper", "a/zookeeper", "belongs to ZooKeeper"},
        bad_case{"chroot_with_control", "a/app\x1F", "control character"},
        bad_case{"chroot_after_each_server", "a:1/app,b:2/app", "once, after the last server"}),
    [](const auto& tested) { return std::string(tested.param.why); });

TEST(ConnectString, ErrorNamesTheServerAtFault) {
    try {
        static_cast<void>(parse_connect_string("good:2181,bad:port,fine"));
        FAIL();
    } catch (const error& e) {
        EXPECT_THAT(e.what(), HasSubstr("servers \"bad:port\""));
        EXPECT_THAT(e.what(), Not(HasSubstr("good")));
    }
}

}  // namespace
}  // namespace latchkey
