#include "options/acl_text.hpp"
#include "options/config.hpp"
#include "options/lock_options.hpp"
#include "output/exit_status.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using words = std::vector<std::string>;
using variables = std::map<std::string, std::string>;

template <class Action>
std::string refusal_of(Action&& act) {
    try {
        act();
    } catch (const usage_error& e) {
        return e.what();
    }
    return "";
}

config two_names() {
    return config({"servers", "acl"});
}

std::string refusal_of_text(const std::string& text) {
    return refusal_of([&] { two_names().add(text, "f"); });
}

TEST(Config, HasStringsNumbersAndLists) {
    config c({"servers", "acl", "session-timeout", "tls-name"});
    c.add(R"(servers = ["zk1", "zk2:2182"]
acl = ["x509:CN=a,O=b:cdrwa", "world:anyone:r"]
session-timeout = 2.5
tls-name = 7
)",
          "f");
    EXPECT_EQ(c.find("servers")->text, "zk1,zk2:2182");
    EXPECT_EQ(c.find("acl")->text, "x509:CN=a,O=b:cdrwa;world:anyone:r");
    EXPECT_EQ(c.find("session-timeout")->text, "2.5");
    EXPECT_EQ(c.find("session-timeout")->source, "f:3");
    EXPECT_EQ(c.find("tls-name")->text, "7");
    EXPECT_FALSE(c.find("tls-ca"));
}

TEST(Config, FirstFileCountsMoreAndAProfileMost) {
    config c = two_names();
    c.add("servers = 'mine'\n[profiles.test]\nservers = 'mine-test'\n", "user");
    c.add("servers = 'ours'\nacl = 'open'\n[profiles.test]\nacl = 'creator'\nservers = 'x'\n",
          "machine");
    EXPECT_EQ(c.find("servers")->text, "mine");
    EXPECT_EQ(c.find("acl")->text, "open");
    c.choose_profile(setting{"test", "--profile"});
    EXPECT_EQ(c.find("servers")->text, "mine-test");
    EXPECT_EQ(c.find("acl")->text, "creator") << "of the same profile in the other file";
    EXPECT_THAT(
        refusal_of([&] {
            c.choose_profile(setting{"prod\n", "--profile"});
        }),
        AllOf(HasSubstr("--profile: there is no profile 'prod\\n'"), HasSubstr("known: test")));
}

TEST(Config, FileNamesTheProfileOfThoseWhoGiveNone) {
    config c = two_names();
    c.add("profile = 'a'\n[profiles.a]\nservers = 'of-a'\n[profiles.b]\nservers = 'of-b'\n", "f");
    c.choose_profile(std::nullopt);
    EXPECT_EQ(c.find("servers")->text, "of-a");
    c.choose_profile(setting{"b", "--profile"});
    EXPECT_EQ(c.find("servers")->text, "of-b");
}

TEST(Config, RefusalsNameFileLineAndRemedy) {
    EXPECT_THAT(refusal_of_text("servers = 'a'\nserver = 'b'\n"),
                AllOf(HasSubstr("f:2: 'server' is not a setting"), HasSubstr("servers, acl")));
    EXPECT_THAT(refusal_of_text("servers = \n"), HasSubstr("f:1: "));
    EXPECT_THAT(refusal_of_text("servers = true"), HasSubstr("f:1: servers is neither a string"));
    EXPECT_THAT(refusal_of_text("servers = ['a', 1]"), HasSubstr("nor a list of strings"));
    EXPECT_THAT(refusal_of_text("servers = []"), HasSubstr("nor a list of strings"));
    EXPECT_THAT(refusal_of_text("profiles = 1"), HasSubstr("write [profiles.NAME]"));
    EXPECT_THAT(refusal_of_text("[profiles]\na = 1"), HasSubstr("the profile 'a' is not a table"));
    EXPECT_THAT(refusal_of_text("[profiles.a]\nprofile = 'b'"), HasSubstr("is not a setting"));
    EXPECT_THAT(refusal_of_text("'\\u001b' = 1"), testing::Not(HasSubstr("\x1b")));
    EXPECT_THAT(refusal_of([] {
                    config c = two_names();
                    c.add("profile = 'a'", "f");
                    c.choose_profile(std::nullopt);
                }),
                HasSubstr("f:1: there is no profile 'a'; no configuration file has profiles"));
}

TEST(Config, UsualFilesAreThoseOfTheUserAndOfTheMachine) {
    const auto files = [](const variables& around) {
        return usual_config_files([&](const char* name) {
            const auto found = around.find(name);
            return found == around.end() ? std::nullopt : std::optional(found->second);
        });
    };
    using testing::ElementsAre;
    EXPECT_THAT(files({{"HOME", "/home/jo"}}),
                ElementsAre("/home/jo/.config/latchkey.toml", "/etc/latchkey.toml"));
    EXPECT_THAT(files({{"HOME", "/home/jo"}, {"XDG_CONFIG_HOME", "/c"}}),
                ElementsAre("/c/latchkey.toml", "/etc/latchkey.toml"));
    EXPECT_THAT(files({}), ElementsAre("/etc/latchkey.toml"));
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
        EXPECT_THAT(refusal_of([&] { static_cast<void>(parse_acl(wrong)); }),
                    HasSubstr("write SCHEME:ID:PERMISSIONS"))
            << wrong;
    }
}

/// A file of configuration, as options see it.
class ConfigFile : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
        write(
            "servers = 'of-file'\nsession-timeout = 5\nauth-file = '/a'\nacl = 'open'\n"
            "[profiles.test]\nservers = 'of-test'\nauth-file = ''\n");
    }

    void TearDown() override { std::filesystem::remove_all(folder_); }

    void write(const std::string& text) const { std::ofstream(file()) << text; }

    [[nodiscard]] std::string file() const { return folder_ + "/latchkey.toml"; }

    [[nodiscard]] lock_options parse(const words& arguments, variables around = {}) const {
        around.try_emplace("LATCHKEY_CONFIG", file());
        return parse_lock_options(arguments, [&](const char* name) {
            const auto found = around.find(name);
            return found == around.end() ? std::nullopt : std::optional(found->second);
        });
    }

    std::string folder_ = (std::filesystem::temp_directory_path() / "latchkey.XXXXXX").string();
};

TEST_F(ConfigFile, CountsLessThanTheEnvironmentWhichCountsLessThanTheLine) {
    EXPECT_EQ(parse({"/a"}).servers, "of-file");
    EXPECT_EQ(parse({"/a"}).session_timeout, 5s);
    EXPECT_EQ(parse({"/a"}).access, open_unsafe_acl());
    EXPECT_EQ(parse({"/a"}, {{"ZK_HOSTS", "zk"}}).servers, "zk");
    EXPECT_EQ(parse({"/a"}, {{"LATCHKEY_SESSION_TIMEOUT", "7"}}).session_timeout, 7s);
    EXPECT_EQ(parse({"-t", "8", "/a"}, {{"LATCHKEY_SESSION_TIMEOUT", "7"}}).session_timeout, 8s);
    EXPECT_EQ(parse({"/a"}).auth_file, "/a");
    EXPECT_FALSE(parse({"/a"}, {{"LATCHKEY_AUTH", "digest a:b"}}).auth_file)
        << "the secret of the environment counts, not the file";
}

TEST_F(ConfigFile, IsChosenOnTheLineOrInTheEnvironment) {
    EXPECT_EQ(parse({"--config", file(), "/a"}, {{"LATCHKEY_CONFIG", "/no"}}).servers, "of-file");
    EXPECT_EQ(parse({"--profile", "test", "/a"}).servers, "of-test");
    EXPECT_EQ(parse({"/a"}, {{"LATCHKEY_PROFILE", "test"}}).servers, "of-test");
    EXPECT_EQ(parse({"/a"}, {{"LATCHKEY_PROFILE", "test"}}).session_timeout, 5s);
    EXPECT_FALSE(parse({"--profile", "test", "/a"}).auth_file) << "unset there";
    EXPECT_THAT(refusal_of([&] {
                    static_cast<void>(parse({"--config", "", "/a"}));
                }),
                HasSubstr("no servers"));
    EXPECT_THAT(refusal_of([&] {
                    static_cast<void>(parse({"--config", folder_ + "/no", "/a"}));
                }),
                HasSubstr("/no' cannot be read"));
}

TEST_F(ConfigFile, RefusalOfAValueNamesItsPlace) {
    write("servers = 'a'\nsession-timeout = 'soon'\n");
    EXPECT_THAT(
        refusal_of([&] { static_cast<void>(parse({"/a"})); }),
        AllOf(HasSubstr(file() + ":2: "), HasSubstr("-t/--session-timeout"), HasSubstr("soon")));
    EXPECT_THAT(refusal_of([&] {
                    static_cast<void>(parse({"/a"}, {{"LATCHKEY_SESSION_TIMEOUT", "x"}}));
                }),
                HasSubstr("LATCHKEY_SESSION_TIMEOUT: "));
}

TEST_F(ConfigFile, IsRefusedIfOthersMayWriteIt) {
    ASSERT_EQ(::chmod(file().c_str(), 0664), 0);
    EXPECT_THAT(refusal_of([&] { static_cast<void>(parse({"/a"})); }), HasSubstr("chmod go-w"));
    ASSERT_EQ(::chmod(file().c_str(), 0644), 0);
    EXPECT_EQ(parse({"/a"}).servers, "of-file");
    EXPECT_THAT(refusal_of([&] {
                    static_cast<void>(parse({"--config", folder_, "/a"}));
                }),
                HasSubstr("is not a regular file"));
}

TEST_F(ConfigFile, SettingsFromTheEnvironmentHaveNoWhiteSpaceAtTheirEnds) {
    for (const std::string end : {"\n", "\r\n", " ", "\t", "\n\n", " \r\n\t"}) {
        const auto around = [&end](const char* value) { return end + value + end; };
        const auto read = parse({"/a"},
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
        EXPECT_EQ(parse({"/a"}, {{"LATCHKEY_SERVERS", end}, {"ZK_HOSTS", around("zk1")}}).servers,
                  "zk1");
        EXPECT_EQ(parse({"/a"},
                        {{"LATCHKEY_CONFIG", around(file().c_str())},
                         {"LATCHKEY_PROFILE", around("test")}})
                      .servers,
                  "of-test");
        const auto folded = "world:anyone:r;" + end + "world:anyone:c;" + end + "auth::cdrwa";
        EXPECT_EQ(
            parse({"/a"}, {{"LATCHKEY_SERVERS", "zk1"}, {"LATCHKEY_ACL", folded}}).access.size(),
            3U);
    }
}

}  // namespace

}  // namespace latchkey::cli
