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

TEST(ConnectString, IsRead) {
    const std::vector<good_case> table{
        {"name", "zk1", {{{"zk1", 2181}}, ""}},
        {"port", "zk1:2182", {{{"zk1", 2182}}, ""}},
        {"lowest_port", "zk1:1", {{{"zk1", 1}}, ""}},
        {"highest_port", "zk1:65535", {{{"zk1", 65535}}, ""}},
        {"several", "a:1,b,c:3", {{{"a", 1}, {"b", 2181}, {"c", 3}}, ""}},
        {"blanks_around", " a:1 , b ", {{{"a", 1}, {"b", 2181}}, ""}},
        {"line_feed", "a:1\n", {{{"a", 1}}, ""}},
        {"line_of_windows", "a:1\r\n", {{{"a", 1}}, ""}},
        {"folded", "\ta:1,\n  b:2,\r\n\tc:3 \n", {{{"a", 1}, {"b", 2}, {"c", 3}}, ""}},
        {"folded_chroot", "a:1,\nb:2/app\n", {{{"a", 1}, {"b", 2}}, "/app"}},
        {"address", "10.0.0.1:2181", {{{"10.0.0.1", 2181}}, ""}},
        {"domain", "zk-1.prod_eu.example.com.", {{{"zk-1.prod_eu.example.com.", 2181}}, ""}},
        {"ipv6", "[::1]:2182", {{{"::1", 2182}}, ""}},
        {"ipv6_without_port", "[2001:db8::1]", {{{"2001:db8::1", 2181}}, ""}},
        {"ipv6_scope", "[fe80::1%eth0]:1", {{{"fe80::1%eth0", 1}}, ""}},
        {"ipv6_mapped", "[::ffff:10.0.0.1]", {{{"::ffff:10.0.0.1", 2181}}, ""}},
        {"chroot", "a,b/app", {{{"a", 2181}, {"b", 2181}}, "/app"}},
        {"deep_chroot", "a:1/app/x", {{{"a", 1}}, "/app/x"}},
        {"chroot_after_ipv6", "[::1]:1/app", {{{"::1", 1}}, "/app"}},
        {"chroot_of_the_root", "a:1/", {{{"a", 1}}, ""}},
        {"blank_after_chroot", "a:1/app ", {{{"a", 1}}, "/app"}},
        {"duplicate", "a,a:2181,b,a", {{{"a", 2181}, {"b", 2181}}, ""}},
        {"other_port_is_no_duplicate", "a:1,a:2", {{{"a", 1}, {"a", 2}}, ""}}};
    for (const auto& [why, text, target] : table) {
        SCOPED_TRACE(why);
        EXPECT_EQ(parse_connect_string(text), target);
    }
}

struct bad_case {
    const char* why;
    std::string text;
    const char* says;
};

const char* const no_port = "is not a port: use a number from 1 to 65535";
const char* const no_host = "is not a host name or address";

TEST(BadConnectString, IsRefusedWithTheRemedy) {
    const std::vector<bad_case> table{
        {"empty", "", "no server is named"},
        {"blank", "   ", "no server is named"},
        {"only_a_chroot", "/app", "no server is named"},
        {"only_a_comma", ",", "an entry is empty"},
        {"comma_at_the_end", "a,", "an entry is empty"},
        {"comma_in_front", ",a", "an entry is empty"},
        {"commas", "a,,b", "an entry is empty"},
        {"comma_before_chroot", "a,/app", "an entry is empty"},
        {"no_host", ":2181", "the host is missing"},
        {"no_address", "[]:2181", "the host is missing"},
        {"colon_without_port", "a:", no_port},
        {"ipv6_colon_without_port", "[::1]:", no_port},
        {"port_zero", "a:0", no_port},
        {"port_too_high", "a:65536", no_port},
        {"port_wraps_16_bits", "a:67717", no_port},
        {"port_wraps_32_bits", "a:4294969477", no_port},
        {"port_overflows", "a:99999999999999999999999999", no_port},
        {"port_negative", "a:-1", no_port},
        {"port_signed", "a:+1", no_port},
        {"port_hex", "a:0x885", no_port},
        {"port_blank", "a: 2181", no_port},
        {"port_with_junk", "a:2181x", no_port},
        {"service_name", "a:zookeeper", no_port},
        {"ipv6_bare", "::1:2181", "write an IPv6 address in brackets"},
        {"two_ports", "a:1:2", "write an IPv6 address in brackets"},
        {"bracket_open", "[::1:2181", "']' is missing"},
        {"junk_after_bracket", "[::1]2181", "expected ':'"},
        {"bracket_twice", "[[::1]]:2181", no_host},
        {"bracket_around_nothing_numeric", "[zk1]:2181", no_host},
        {"blank_inside", "a b:2181", no_host},
        {"semicolon", "a:1;b", no_port},
        {"url", "zk://a:2181", "without \"zk://\", as in \"a:2181\""},
        {"url_of_http", "http://zk1:2181/app", "without \"http://\", as in \"zk1:2181/app\""},
        {"url_of_zookeeper", "zookeeper://zk1,zk2/app", "has the form of a URL"},
        {"url_after_a_server", "zk1:2181, https://zk2", "without \"https://\", as in \"zk2\""},
        {"url_without_scheme", "://zk1", "has the form of a URL"},
        {"huge_url",
         std::string(1'000'000, 'x') + "://" + std::string(1'000'000, '\x1B'),
         "has the form of a URL"},
        {"user", "me@a:1", no_host},
        {"user_with_a_password", "me:secret@a:1", "servers \"@a:1\""},
        {"several_with_semicolons", "a:1;b:2", "separate servers by commas"},
        {"several_with_blanks", "a:1 b:2", "separate servers by commas"},
        {"newline", "a\n,b", no_host},
        {"nul", "a\0b"s, no_host},
        {"escape_sequence", "a\x1B[2J", no_host},
        {"not_ascii", "z\u00FCrich", no_host},
        {"too_long_a_host", std::string(254, 'a'), no_host},
        {"huge", std::string(1'000'000, '\x1B'), no_host},
        {"huge_chroot", "a/" + std::string(1'000'000, '\x1B'), "bytes long"},
        {"chroot_with_trailing_slash", "a/app/", "empty component"},
        {"chroot_doubled_slash", "a//app", "empty component"},
        {"chroot_with_dots", "a/app/../x", "component '..'"},
        {"chroot_of_zookeeper", "a/zookeeper", "belongs to ZooKeeper"},
        {"chroot_with_control", "a/app\x1F", "control character"},
        {"chroot_after_each_server", "a:1/app,b:2/app", "once, after the last server"},
        {"the_server_at_fault", "good:2181,bad:port,fine", "servers \"bad:port\""}};
    for (const auto& [why, text, says] : table) {
        SCOPED_TRACE(why);
        try {
            ADD_FAILURE() << ::testing::PrintToString(parse_connect_string(text));
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
            EXPECT_THAT(e.what(), HasSubstr(says));
            EXPECT_THAT(e.what(), Not(HasSubstr("\x1B")));
            EXPECT_THAT(e.what(), Not(HasSubstr("good"))) << "this server is not at fault";
            EXPECT_LT(std::string_view(e.what()).size(), 6000U);
        }
    }
}

}  // namespace
}  // namespace latchkey
