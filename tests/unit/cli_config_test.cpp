#include "cli_folder.hpp"
#include "cli_refusal.hpp"
#include "cli_words.hpp"
#include "options/acl_text.hpp"
#include "options/config.hpp"
#include "options/lock_options.hpp"
#include "output/exit_status.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace latchkey::test {

namespace {

using namespace latchkey::cli;
using namespace std::chrono_literals;
using environment_values = std::map<std::string, std::string>;

auto lookup_in(const environment_values& around) {
    return [around](const char* name) {
        const auto found = around.find(name);
        return found == around.end() ? std::nullopt : std::optional(found->second);
    };
}

config two_names() {
    return config({"servers", "acl"});
}

/// What a configuration has for a name.
std::string text_in(const config& c, const char* name) {
    return c.find(name)->text;
}

TEST(Config, HasStringsNumbersAndLists) {
    config c({"servers", "acl", "session-timeout", "tls-name"});
    c.add(R"(servers = ["zk1", "zk2:2182"]
acl = ["x509:CN=a,O=b:cdrwa", "world:anyone:r"]
session-timeout = 2.5
tls-name = 7
)",
          "f");
    EXPECT_EQ(text_in(c, "servers"), "zk1,zk2:2182");
    EXPECT_EQ(text_in(c, "acl"), "x509:CN=a,O=b:cdrwa;world:anyone:r");
    EXPECT_EQ(text_in(c, "session-timeout"), "2.5");
    EXPECT_EQ(c.find("session-timeout")->source, "f:3");
    EXPECT_EQ(text_in(c, "tls-name"), "7");
    EXPECT_FALSE(c.find("tls-ca"));
}

TEST(Config, FirstFileCountsMoreAndAProfileMost) {
    config c = two_names();
    c.add("servers = 'mine'\n[profiles.test]\nservers = 'mine-test'\n", "user");
    c.add("servers = 'ours'\nacl = 'open'\n[profiles.test]\nacl = 'creator'\nservers = 'x'\n",
          "machine");
    EXPECT_EQ(text_in(c, "servers"), "mine");
    EXPECT_EQ(text_in(c, "acl"), "open");
    c.choose_profile(setting{"test", "--profile"});
    EXPECT_EQ(text_in(c, "servers"), "mine-test");
    EXPECT_EQ(text_in(c, "acl"), "creator") << "of the same profile in the other file";
}

TEST(Config, FileNamesTheProfileOfThoseWhoGiveNone) {
    config c = two_names();
    c.add("profile = 'a'\n[profiles.a]\nservers = 'of-a'\n[profiles.b]\nservers = 'of-b'\n", "f");
    c.choose_profile(std::nullopt);
    EXPECT_EQ(text_in(c, "servers"), "of-a");
    c.choose_profile(setting{"b", "--profile"});
    EXPECT_EQ(text_in(c, "servers"), "of-b");
}

TEST(Config, RefusalsNameFileLineAndRemedy) {
    const std::pair<const char*, const char*> refusals[]{
        {"servers = 'a'\nserver = 'b'\n", "f:2: 'server' is not a setting"},
        {"server = 'b'\n", "servers, acl"},
        {"servers = \n", "f:1: "},
        {"servers = true", "f:1: servers is neither a string"},
        {"servers = ['a', 1]", "nor a list of strings"},
        {"servers = []", "nor a list of strings"},
        {"profiles = 1", "write [profiles.NAME]"},
        {"[profiles]\na = 1", "the profile 'a' is not a table"},
        {"[profiles.a]\nprofile = 'b'", "is not a setting"},
        {"\"\\u001b\" = 1", "\\x1b"},
        {"profile = 'a'", "f:1: there is no profile 'a'; no configuration file has profiles"},
    };
    for (const auto& [text, expected] : refusals) {
        config c = two_names();
        const std::string refusal = refusal_of_action([&, text = text] {
            c.add(text, "f");
            c.choose_profile(std::nullopt);
            return 0;
        });
        EXPECT_THAT(refusal, AllOf(HasSubstr(expected), Not(HasSubstr("\x1b")))) << text;
    }
    config c = two_names();
    c.add("[profiles.test]\n", "f");
    EXPECT_THAT(
        refusal_of_action([&] {
            c.choose_profile(setting{"prod\n", "--profile"});
            return 0;
        }),
        AllOf(HasSubstr("--profile: there is no profile 'prod\\n'"), HasSubstr("known: test")));
}

TEST(Config, UsualFilesAreThoseOfTheUserAndOfTheMachine) {
    const auto usual_files = [](const environment_values& around) {
        return usual_config_files(lookup_in(around));
    };
    EXPECT_THAT(usual_files({{"HOME", "/home/jo"}}),
                ElementsAre("/home/jo/.config/latchkey.toml", "/etc/latchkey.toml"));
    EXPECT_THAT(usual_files({{"HOME", "/home/jo"}, {"XDG_CONFIG_HOME", "/c"}}),
                ElementsAre("/c/latchkey.toml", "/etc/latchkey.toml"));
    EXPECT_THAT(usual_files({}), ElementsAre("/etc/latchkey.toml"));
}

TEST(AclText, IsAWordOrEntries) {
    EXPECT_EQ(parse_acl("creator"), creator_only_acl());
    EXPECT_EQ(parse_acl("open"), open_unsafe_acl());
    EXPECT_EQ(parse_acl("digest:ops:HASH=:cdrwa;x509:CN=a,O=b:rw"),
              (acl{{"digest", "ops:HASH=", permission::all},
                   {"x509", "CN=a,O=b", permission::read | permission::write}}));
    EXPECT_EQ(parse_acl("auth::d"), (acl{{"auth", "", permission::remove}}));
    for (const char* wrong :
         {"", "all", "world:anyone", ":a:r", "world:anyone:", "a:b:rx", "a:b:r;"}) {
        EXPECT_THAT(refusal_of_action([&] { return parse_acl(wrong); }),
                    HasSubstr("write SCHEME:ID:PERMISSIONS"))
            << wrong;
    }
}

/// A file of configuration, as options see it.
class ConfigFile : public ::testing::Test {
protected:
    ConfigFile() {
        folder_.write("toml",
                      "servers = 'of-file'\nsession-timeout = 5\nauth-file = '/a'\nacl = 'open'\n"
                      "[profiles.test]\nservers = 'of-test'\nauth-file = ''\n");
    }

    [[nodiscard]] lock_options parse(const std::string& line,
                                     environment_values around = {}) const {
        around.try_emplace("LATCHKEY_CONFIG", file_);
        return parse_lock_options(words_of(line), lookup_in(around));
    }

    [[nodiscard]] std::string refusal_of(const std::string& line,
                                         const environment_values& around = {}) const {
        return refusal_of_action([&] { return parse(line, around); });
    }

    const temporary_folder folder_;
    const std::string file_ = folder_ / "toml";
};

TEST_F(ConfigFile, CountsLessThanTheEnvironmentWhichCountsLessThanTheLine) {
    EXPECT_EQ(parse("/a").servers, "of-file");
    EXPECT_EQ(parse("/a").session_timeout, 5s);
    EXPECT_EQ(parse("/a").access, open_unsafe_acl());
    EXPECT_EQ(parse("/a", {{"ZK_HOSTS", "zk"}}).servers, "zk");
    EXPECT_EQ(parse("/a", {{"LATCHKEY_SESSION_TIMEOUT", "7"}}).session_timeout, 7s);
    EXPECT_EQ(parse("-t 8 /a", {{"LATCHKEY_SESSION_TIMEOUT", "7"}}).session_timeout, 8s);
    EXPECT_EQ(parse("/a").auth_file, "/a");
    EXPECT_FALSE(parse("/a", {{"LATCHKEY_AUTH", "digest a:b"}}).auth_file)
        << "the secret of the environment counts, not the file";
}

TEST_F(ConfigFile, IsChosenOnTheLineOrInTheEnvironment) {
    EXPECT_EQ(parse("--config " + file_ + " /a", {{"LATCHKEY_CONFIG", "/no"}}).servers, "of-file");
    EXPECT_EQ(parse("--profile test /a").servers, "of-test");
    EXPECT_EQ(parse("/a", {{"LATCHKEY_PROFILE", "test"}}).servers, "of-test");
    EXPECT_EQ(parse("/a", {{"LATCHKEY_PROFILE", "test"}}).session_timeout, 5s);
    EXPECT_FALSE(parse("--profile test /a").auth_file) << "unset there";
    EXPECT_THAT(refusal_of_action([&] {
                    return parse_lock_options({"--config", "", "/a"},
                                              lookup_in({{"LATCHKEY_CONFIG", file_}}));
                }),
                HasSubstr("no servers"));
    EXPECT_THAT(refusal_of("--config /no /a"), HasSubstr("/no' cannot be read"));
}

TEST_F(ConfigFile, RefusalOfAValueNamesItsPlace) {
    folder_.write("toml", "servers = 'a'\nsession-timeout = 'soon'\n");
    EXPECT_THAT(
        refusal_of("/a"),
        AllOf(HasSubstr(file_ + ":2: "), HasSubstr("-t/--session-timeout"), HasSubstr("soon")));
    EXPECT_THAT(refusal_of("/a", {{"LATCHKEY_SESSION_TIMEOUT", "x"}}),
                HasSubstr("LATCHKEY_SESSION_TIMEOUT: "));
}

TEST_F(ConfigFile, IsRefusedIfOthersMayWriteIt) {
    ASSERT_EQ(::chmod(file_.c_str(), 0664), 0);
    EXPECT_THAT(refusal_of("/a"), HasSubstr("chmod go-w"));
    ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
    EXPECT_EQ(parse("/a").servers, "of-file");
    EXPECT_THAT(refusal_of("--config " + folder_.path().string() + " /a"),
                HasSubstr("is not a regular file"));
}

TEST_F(ConfigFile, SettingsFromTheEnvironmentHaveNoWhiteSpaceAtTheirEnds) {
    for (const std::string end : {"\n", "\r\n", " ", "\t", "\n\n", " \r\n\t"}) {
        const auto around = [&end](const std::string& value) { return end + value + end; };
        const auto read = parse("/a",
                                {{"LATCHKEY_SERVERS", around("zk1,zk2/root")},
                                 {"LATCHKEY_SESSION_TIMEOUT", around("8")},
                                 {"LATCHKEY_AUTH_FILE", around("/auth")},
                                 {"LATCHKEY_TLS_CA", around("/ca")},
                                 {"LATCHKEY_TLS_CERT", around("/cert")},
                                 {"LATCHKEY_TLS_KEY", around("/key")},
                                 {"LATCHKEY_TLS_NAME", around("zk")},
                                 {"LATCHKEY_ACL", around("open")}});
        EXPECT_EQ(read.servers, "zk1,zk2/root");
        EXPECT_EQ(read.session_timeout, std::chrono::seconds(8));
        EXPECT_EQ(read.auth_file, "/auth");
        EXPECT_EQ(read.tls.ca_file, "/ca");
        EXPECT_EQ(read.tls.certificate_file, "/cert");
        EXPECT_EQ(read.tls.key_file, "/key");
        EXPECT_EQ(read.tls.server_name, "zk");
        EXPECT_FALSE(read.access.empty());
        EXPECT_EQ(parse("/a", {{"LATCHKEY_SERVERS", end}, {"ZK_HOSTS", around("zk1")}}).servers,
                  "zk1");
        EXPECT_EQ(
            parse("/a", {{"LATCHKEY_CONFIG", around(file_)}, {"LATCHKEY_PROFILE", around("test")}})
                .servers,
            "of-test");
        const auto folded = "world:anyone:r;" + end + "world:anyone:c;" + end + "auth::cdrwa";
        EXPECT_EQ(
            parse("/a", {{"LATCHKEY_SERVERS", "zk1"}, {"LATCHKEY_ACL", folded}}).access.size(), 3U);
    }
}

}  // namespace

}  // namespace latchkey::test
