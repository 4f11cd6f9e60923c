#include "options/lock_options.hpp"
#include "options/option_parser.hpp"
#include "output/exit_status.hpp"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using words = std::vector<std::string>;
using variables = std::map<std::string, std::string>;

lock_options parse(const words& arguments,
                   const variables& environment = {{"LATCHKEY_SERVERS", "zk1"}}) {
    return parse_lock_options(arguments, [&](const char* name) {
        const auto found = environment.find(name);
        if (found == environment.end()) {
            return name == std::string_view("LATCHKEY_CONFIG") ? std::optional<std::string>("")
                                                               : std::nullopt;
        }
        return std::optional(found->second);
    });
}

/// What -h or -V prints.
std::string help_of(const char* option) {
    try {
        static_cast<void>(parse({option}, {}));
    } catch (const help_request& help) {
        return help.what();
    }
    return "";
}

std::string refusal_of(const words& arguments,
                       const variables& environment = {{"LATCHKEY_SERVERS", "zk1"}}) {
    try {
        static_cast<void>(parse(arguments, environment));
    } catch (const usage_error& e) {
        return e.what();
    }
    return "";
}

TEST(LockOptions, FilesForTlsComeFromOptionsElseFromTheEnvironment) {
    const variables around{{"LATCHKEY_SERVERS", "zk1"},
                           {"LATCHKEY_TLS_CA", "/ca"},
                           {"LATCHKEY_TLS_CERT", "/cert"},
                           {"LATCHKEY_TLS_KEY", "/key"},
                           {"LATCHKEY_TLS_NAME", "zk"}};
    EXPECT_EQ(parse({"/a"}).tls.ca_file, "");
    auto tls = parse({"/a"}, around).tls;
    EXPECT_EQ(tls.ca_file, "/ca");
    EXPECT_EQ(tls.certificate_file, "/cert");
    EXPECT_EQ(tls.key_file, "/key");
    EXPECT_EQ(tls.server_name, "zk");
    tls =
        parse({"--tls-ca", "a", "--tls-cert=b", "--tls-key", "c", "--tls-name", "d", "/a"}, around)
            .tls;
    EXPECT_EQ(tls.ca_file, "a");
    EXPECT_EQ(tls.certificate_file, "b");
    EXPECT_EQ(tls.key_file, "c");
    EXPECT_EQ(tls.server_name, "d");
}

TEST(LockOptions, TlsIsNeverLeftOutBecauseAFileIsMissing) {
    EXPECT_THAT(refusal_of({"--tls-cert", "c", "/a"}), HasSubstr("--tls-cert 'c' needs --tls-ca"));
    EXPECT_THAT(refusal_of({"--tls-name", "n", "/a"}), HasSubstr("--tls-name 'n' needs --tls-ca"));
    EXPECT_THAT(refusal_of({"--tls-ca", "", "/a"}), HasSubstr("--tls-ca: is empty"));
    EXPECT_THAT(refusal_of({"--tls-ca", "a", "--tls-key", "k", "/a"}),
                HasSubstr("--tls-key 'k' needs --tls-cert"));
    EXPECT_THAT(refusal_of({"/a"}, {{"LATCHKEY_SERVERS", "z"}, {"LATCHKEY_TLS_KEY", "k"}}),
                HasSubstr("needs --tls-ca"));
}

TEST(LockOptions, HaveDefaults) {
    const auto o = parse({"/a"});
    EXPECT_EQ(o.path, "/a");
    EXPECT_TRUE(o.command.empty());
    EXPECT_FALSE(o.try_only);
    EXPECT_EQ(o.wait, std::nullopt);
    EXPECT_EQ(o.conflict_status, 1);
    EXPECT_EQ(o.session_timeout, 10s);
    EXPECT_FALSE(o.verbose);
    EXPECT_FALSE(o.json);
}

TEST(LockOptions, TakeTheCommandAfterTwoDashesOrWithoutThem) {
    EXPECT_THAT(parse({"/a", "--", "cp", "-r", "x"}).command, ElementsAre("cp", "-r", "x"));
    EXPECT_THAT(parse({"/a", "cp", "-r", "x"}).command, ElementsAre("cp", "-r", "x"));
    EXPECT_THAT(parse({"--", "/a", "cp", "--", "x"}).command, ElementsAre("cp", "--", "x"));
    EXPECT_THAT(parse({"-n", "--", "/a", "--", "--", "x"}).command, ElementsAre("--", "x"));
}

TEST(LockOptions, EndAtTheFirstOperand) {
    const auto o = parse({"-n", "/a", "cmd", "-w", "5", "--verbose", "--help", "-s"});
    EXPECT_TRUE(o.try_only);
    EXPECT_EQ(o.wait, std::nullopt);
    EXPECT_FALSE(o.verbose);
    EXPECT_EQ(o.command.size(), 6U);
}

TEST(LockOptions, DoNotTakeAValueForAnOperand) {
    const auto o = parse({"-w", "5", "-z", "zk2", "--grace", "1", "-nE", "9", "/a", "x"});
    EXPECT_EQ(o.wait, 5s);
    EXPECT_EQ(o.servers, "zk2");
    EXPECT_EQ(o.grace, 1s);
    EXPECT_EQ(o.conflict_status, 9);
    EXPECT_EQ(o.path, "/a");
    EXPECT_THAT(o.command, ElementsAre("x"));
}

TEST(LockOptions, CanBeWrittenInEveryUsualWay) {
    for (const words& way : {words{"-w", "2.5", "/a"},
                             {"-w2.5", "/a"},
                             {"--wait=2.5", "/a"},
                             {"--wait", "2.5", "/a"},
                             {"--timeout=2.5", "/a"},
                             {"-xw2.5", "/a"}}) {
        EXPECT_EQ(parse(way).wait, 2500ms) << way.front();
        EXPECT_EQ(parse(way).path, "/a") << way.front();
    }
    for (const char* letter : {"-n", "--nb", "--nonblock", "-en"}) {
        EXPECT_TRUE(parse({letter, "/a"}).try_only) << letter;
    }
}

TEST(LockOptions, LastOneWins) {
    EXPECT_EQ(parse({"-w", "1", "-w", "2", "/a"}).wait, 2s);
}

TEST(LockOptions, WaitOfZeroIsATry) {
    const auto o = parse({"-w", "0.0", "/a"});
    EXPECT_TRUE(o.try_only);
    EXPECT_EQ(o.wait, std::nullopt);
}

TEST(LockOptions, RunAStringWithTheShell) {
    const variables bash{{"ZK_HOSTS", "zk1"}, {"SHELL", "/bin/bash"}};
    EXPECT_THAT(parse({"/a", "-c", "a | b"}, bash).command,
                ElementsAre("/bin/bash", "-c", "a | b"));
    EXPECT_THAT(parse({"/a", "--command", "x"}).command, ElementsAre("/bin/sh", "-c", "x"));
    EXPECT_THAT(parse({"/a", "--", "-c"}).command, ElementsAre("-c"));
    EXPECT_THAT(refusal_of({"/a", "-c"}), HasSubstr("exactly one argument"));
    EXPECT_THAT(refusal_of({"/a", "-c", "a", "b"}), HasSubstr("quote it"));
}

TEST(LockOptions, FindServersOnTheLineThenInTheEnvironment) {
    const variables both{{"LATCHKEY_SERVERS", "first"}, {"ZK_HOSTS", "second"}};
    EXPECT_EQ(parse({"-z", "line", "/a"}, both).servers, "line");
    EXPECT_EQ(parse({"/a"}, both).servers, "first");
    EXPECT_EQ(parse({"/a"}, {{"LATCHKEY_SERVERS", ""}, {"ZK_HOSTS", "second"}}).servers, "second");
    EXPECT_THAT(refusal_of({"/a"}, {}), HasSubstr("-z host:port"));
}

TEST(LockOptions, SayWhichKindOfLock) {
    using kind = lock_options::kind;
    EXPECT_EQ(parse({"/a"}).what, kind::mutex);
    EXPECT_EQ(parse({"-x", "/a"}).what, kind::read_write);
    EXPECT_EQ(parse({"-x", "/a"}).mode, lock_mode::exclusive);
    EXPECT_EQ(parse({"-sn", "/a"}).what, kind::read_write);
    EXPECT_EQ(parse({"--shared", "/a"}).mode, lock_mode::shared);
    EXPECT_EQ(parse({"-N3", "/a"}).what, kind::semaphore);
    EXPECT_EQ(parse({"-N3", "/a"}).permits, 3U);
    EXPECT_EQ(parse({"-N3", "/a"}).limit, std::nullopt);
    EXPECT_EQ(parse({"--limit=4", "/a"}).permits, 1U);
    EXPECT_EQ(parse({"--permits", "4", "--limit=4", "/a"}).limit, 4U);
}

TEST(LockOptions, TakeAFileOrAKeyInsteadOfAPath) {
    using kind = lock_options::kind;
    EXPECT_EQ(parse({"--file", "/nowhere/f", "x", "y"}).path, "/files/:nowhere:f");
    EXPECT_EQ(parse({"--file", "/nowhere/f"}).what, kind::read_write);
    EXPECT_EQ(parse({"--file", "/nowhere/f"}).mode, lock_mode::exclusive);
    EXPECT_EQ(parse({"-s", "--file=/nowhere/f"}).mode, lock_mode::shared);
    EXPECT_EQ(parse({"-s", "--key", "a b"}).path, "/files/a%20b");
    for (const words& way : {words{"--file", "/f", "x", "y"}, {"--file", "/f", "--", "x", "y"}}) {
        EXPECT_THAT(parse(way).command, ElementsAre("x", "y"));
    }
    EXPECT_THAT(parse({"--file", "/f", "-c", "a | b"}).command,
                ElementsAre("/bin/sh", "-c", "a | b"));
    EXPECT_TRUE(parse({"--file", "/f"}).command.empty());
}

TEST(LockOptions, TakeSeveralPathsUpToTheCommand) {
    const auto o = parse({"--all", "/a", "/b", "--", "x", "--", "y"});
    EXPECT_EQ(o.what, lock_options::kind::all);
    EXPECT_THAT(o.paths, ElementsAre("/a", "/b"));
    EXPECT_EQ(o.path, "/a /b");
    EXPECT_THAT(o.command, ElementsAre("x", "--", "y"));
    EXPECT_THAT(parse({"--all", "/a", "-c", "x"}).command, ElementsAre("/bin/sh", "-c", "x"));
    EXPECT_TRUE(parse({"--all", "/a", "/b"}).command.empty());
    words many{"--all"};
    many.insert(many.end(), 40, "/" + std::string(1000, 'p'));
    EXPECT_THAT(refusal_of(many), HasSubstr("40 PATHs are too many"));
}

TEST(LockOptions, RefusalsNameValueAndRemedy) {
    const std::vector<std::pair<words, const char*>> refusals{
        {{}, "give its path"},
        {{"-s", "-x", "/a"}, "shared or exclusive; leave one out"},
        {{"-s", "-N", "2", "/a"}, "neither shared nor exclusive"},
        {{"-x", "--limit", "2", "/a"}, "-x and --limit"},
        {{"-N", "3", "--limit", "2", "/a"}, "-N 3 is more than --limit 2"},
        {{"-N", "0", "/a"}, "'0' is not a number of permits; give one from 1 to 1000000000"},
        {{"-N", "-1", "/a"}, "'-1' is not a number of permits"},
        {{"-N", "", "/a"}, "'' is not a number of permits"},
        {{"--limit", "99999999999999999999", "/a"}, "is not a number of permits"},
        {{"-N", "1", "--file", "/f"}, "-N: a file has no permits"},
        {{"--file", "/f", "--key", "k"}, "--file and --key: each names the lock"},
        {{"--file", "/f", "/a", "--", "x"}, "'/a' before '--': --file and --key take the place"},
        {{"--file", "/f", "--"}, "no command after '--'"},
        {{"--file", ""}, "the name is empty"},
        {{"--key", ""}, "the key is empty"},
        {{"--all"}, "give their paths"},
        {{"--all", "--", "--", "x"}, "give their paths"},
        {{"--all", "/a", "x"}, "'x' is not a PATH; with --all put '--' before the command"},
        {{"--all", "-s", "/a", "/b"}, "--all and -s"},
        {{"--all", "--file", "/f"}, "--all and --file"},
        {{"-w", "-1", "/a"}, "'-1' is negative"},
        {{"-w", "nan", "/a"}, "'nan' is not a duration"},
        {{"-w", "", "/a"}, "'' is not a duration"},
        {{"--wait=", "-n", "/a"}, "'--wait=' has no value"},
        {{"-w"}, "-w"},
        {{"-E", "256", "/a"}, "'256' is not an exit status; give a number from 0 to 255"},
        {{"-E", "-1", "/a"}, "'-1' is not an exit status"},
        {{"-E", "99999999999999999999", "/a"}, "is not an exit status"},
        {{"-E", "", "/a"}, "'' is not an exit status"},
        {{"-t", "0", "/a"}, "'0' is too short"},
        {{"-t", "0.0001", "/a"}, "too short"},
        {{"--grace", "x", "/a"}, "'x' is not a duration"},
        {{"--frobnicate", "/a"}, "--frobnicate"},
        {{"-u", "/a"}, "-u"},
        {{"-c", "x", "/a"}, "give its path before -c"},
        {{"/a", "--"}, "no command after '--'"},
        {{"--lock-delay", "1", "-s", "/a"}, "--lock-delay: readers and permits have none"},
        {{"--lock-delay", "3601", "/a"}, "--lock-delay: 3601 s is too long; give at most 3600"},
        {{"/a", "-w", "5", "--", "x"}, "'-w' after PATH: options come before it"},
        {{"/a", ""}, "empty word"},
    };
    for (const auto& [arguments, expected] : refusals) {
        EXPECT_THAT(refusal_of(arguments), HasSubstr(expected))
            << testing::PrintToString(arguments);
    }
}

TEST(LockOptions, SaturateASessionTimeoutThatTheProtocolCannotCarry) {
    EXPECT_EQ(parse({"-t", "99999999999999999999999", "/a"}).session_timeout,
              std::chrono::milliseconds(2147483647));
    EXPECT_EQ(parse({"-t", "0.0015", "/a"}).session_timeout, 2ms);
}

TEST(LockOptions, GraceLongerThanAQuarterOfTheTimeoutNamesBoth) {
    EXPECT_EQ(parse({"-t", "8", "--grace", "2", "/a"}).grace, 2s);
    const auto refusal = refusal_of({"-t", "8", "--grace", "2.01", "/a"});
    EXPECT_THAT(refusal, HasSubstr("2.01 s"));
    EXPECT_THAT(refusal, HasSubstr("8 s"));
}

TEST(LockOptions, GraceIsCheckedAgainstWhatTheServersGrant) {
    const auto o = parse({"-t", "40", "--grace", "8", "/a"});
    EXPECT_EQ(grace_within(o, 40s), 8s);
    try {
        static_cast<void>(grace_within(o, 4s));
        FAIL();
    } catch (const usage_error& e) {
        EXPECT_THAT(e.what(), HasSubstr("8 s"));
        EXPECT_THAT(e.what(), HasSubstr("4 s that the servers granted"));
    }
}

TEST(LockOptions, GraceDefaultsToATwentiethOfTheTimeout) {
    const auto o = parse({"/a"});
    EXPECT_EQ(grace_within(o, 4s), 200ms);
    EXPECT_EQ(grace_within(o, 10s), 500ms);
    EXPECT_EQ(grace_within(o, 60s), 2s);
}

TEST(LockOptions, HelpAndVersionNeedNothingElse) {
    for (const char* option : {"-h", "--help"}) {
        EXPECT_THAT(help_of(option), StartsWith("Usage: latchkey lock ")) << option;
    }
    for (const char* option : {"-V", "--version"}) {
        EXPECT_EQ(help_of(option), version_line()) << option;
    }
}

TEST(LockOptions, HelpFitsATerminalAndNamesEveryOption) {
    const auto text = help_of("--help");
    std::size_t column = 0;
    for (const char c : text) {
        column = c == '\n' ? 0 : column + 1;
        ASSERT_LE(column, 80U) << text;
    }
    for (const char* name : {"-z",
                             "--servers",
                             "-x",
                             "-e",
                             "--exclusive",
                             "-s",
                             "--shared",
                             "-N",
                             "--permits",
                             "--limit",
                             "--file",
                             "--key",
                             "--all",
                             "--id",
                             "--data",
                             "--max-hold",
                             "--min-hold",
                             "--once-per",
                             "--lock-delay",
                             "--on-lost",
                             "-q",
                             "--quiet",
                             "-n",
                             "--nb",
                             "--nonblock",
                             "-w",
                             "--wait",
                             "--timeout",
                             "-E",
                             "--conflict-exit-code",
                             "-t",
                             "--session-timeout",
                             "--grace",
                             "--auth-file",
                             "--tls-ca",
                             "--tls-cert",
                             "--tls-key",
                             "--tls-name",
                             "--pass-auth",
                             "--verbose",
                             "--json",
                             "-c",
                             "--version",
                             "LATCHKEY_TOKEN",
                             "LATCHKEY_AUTH",
                             "76"}) {
        EXPECT_THAT(text, HasSubstr(name));
    }
}

TEST(LockOptions, LimitAHold) {
    const auto o = parse({"--max-hold",
                          "60",
                          "--min-hold",
                          "1.5",
                          "--once-per",
                          "3000",
                          "--on-lost",
                          "logger lost",
                          "-q",
                          "-E",
                          "9",
                          "/a",
                          "x"});
    EXPECT_EQ(o.max_hold, 60s);
    EXPECT_EQ(o.min_hold, 1500ms);
    EXPECT_EQ(o.once_per, 3000s);
    EXPECT_EQ(o.on_lost, "logger lost");
    EXPECT_TRUE(o.quiet);
    EXPECT_EQ(o.skipped_status, 9);
    EXPECT_EQ(parse({"/a", "x"}).skipped_status, 0);
    EXPECT_EQ(grace_within(parse({"--max-hold", "1", "/a", "x"}), 60s), 500ms);
    EXPECT_EQ(grace_within(parse({"--max-hold", "60", "/a", "x"}), 60s), 2s);
}

TEST(LockOptions, ThatLimitAHoldAreCheckedTogether) {
    EXPECT_THAT(refusal_of({"--max-hold", "0.2", "/a", "x"}), HasSubstr("0.2 s is too short"));
    EXPECT_THAT(refusal_of({"--max-hold", "2", "--grace", "2", "/a", "x"}), HasSubstr("--grace"));
    EXPECT_THAT(refusal_of({"--max-hold", "5", "--min-hold", "6", "/a", "x"}), HasSubstr("6 s"));
    EXPECT_THAT(refusal_of({"--min-hold", "5", "/a"}), HasSubstr("no command"));
    EXPECT_THAT(refusal_of({"--once-per", "5", "/a"}), HasSubstr("no command"));
    EXPECT_THAT(refusal_of({"--once-per", "0", "/a", "x"}), HasSubstr("zero"));
    EXPECT_THAT(refusal_of({"--on-lost", "", "/a", "x"}), HasSubstr("empty"));
    EXPECT_THAT(refusal_of({"-q", "--verbose", "/a", "x"}), HasSubstr("-q"));
    EXPECT_THAT(refusal_of({"--id", std::string(600, 'x'), "/a", "x"}), HasSubstr("--id"));
    for (const words& several : {words{"-s", "--once-per", "5", "/a", "x"},
                                 words{"-N", "1", "--once-per", "5", "/a", "x"},
                                 words{"--all", "--once-per", "5", "/a", "/b", "--", "x"}}) {
        EXPECT_THAT(refusal_of(several), HasSubstr("--once-per"));
    }
    EXPECT_EQ(parse({"-x", "--once-per", "5", "/a", "x"}).once_per, 5s);
}

}  // namespace

}  // namespace latchkey::cli
