#include "cli_refusal.hpp"
#include "cli_words.hpp"
#include "options/command_line.hpp"
#include "options/lock_options.hpp"
#include "output/exit_status.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {

namespace {

using namespace latchkey::cli;
using namespace std::chrono_literals;
using variables = std::map<std::string, std::string>;

const variables one_server{{"LATCHKEY_SERVERS", "zk1"}};

lock_options options_of(const words& arguments, const variables& environment = one_server) {
    return parse_lock_options(arguments, [&](const char* name) {
        const auto found = environment.find(name);
        if (found == environment.end()) {
            return name == std::string_view("LATCHKEY_CONFIG") ? std::optional<std::string>("")
                                                               : std::nullopt;
        }
        return std::optional(found->second);
    });
}

lock_options options_of(const std::string& line, const variables& environment = one_server) {
    return options_of(words_of(line), environment);
}

std::string refusal_of_line(const std::string& line, const variables& environment = one_server) {
    return refusal_of_action([&] { return options_of(line, environment); });
}

std::string refusal_of_words(const words& arguments) {
    return refusal_of_action([&] { return options_of(arguments); });
}

/// What -h or -V prints.
std::string help_of_lock(const char* option) {
    try {
        static_cast<void>(options_of(option, {}));
    } catch (const help_request& help) {
        return help.what();
    }
    return "";
}

words files_of(const tls_options& tls) {
    return {tls.ca_file, tls.certificate_file, tls.key_file, tls.server_name};
}

TEST(LockOptions, FilesForTlsComeFromOptionsElseFromTheEnvironment) {
    const variables around{{"LATCHKEY_SERVERS", "zk1"},
                           {"LATCHKEY_TLS_CA", "/ca"},
                           {"LATCHKEY_TLS_CERT", "/cert"},
                           {"LATCHKEY_TLS_KEY", "/key"},
                           {"LATCHKEY_TLS_NAME", "zk"}};
    EXPECT_EQ(options_of("/a").tls.ca_file, "");
    EXPECT_THAT(files_of(options_of("/a", around).tls), ElementsAre("/ca", "/cert", "/key", "zk"));
    const std::string line = "--tls-ca a --tls-cert=b --tls-key c --tls-name d /a";
    EXPECT_THAT(files_of(options_of(line, around).tls), ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(refusal_of_line("/a", {{"LATCHKEY_SERVERS", "z"}, {"LATCHKEY_TLS_KEY", "k"}}),
                HasSubstr("needs --tls-ca"));
}

TEST(LockOptions, HaveDefaults) {
    const auto o = options_of("/a");
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
    const std::map<std::string, words> commands{
        {"/a -- cp -r x", {"cp", "-r", "x"}},
        {"/a cp -r x", {"cp", "-r", "x"}},
        {"-- /a cp -- x", {"cp", "--", "x"}},
        {"-n -- /a -- -- x", {"--", "x"}},
        {"/a -- -c", {"-c"}},
        {"/a --command x", {"/bin/sh", "-c", "x"}},
        {"--file /f x y", {"x", "y"}},
        {"--file /f -- x y", {"x", "y"}},
        {"--file /f -c x", {"/bin/sh", "-c", "x"}},
        {"--file /f", {}},
        {"--all /a /b -- x -- y", {"x", "--", "y"}},
        {"--all /a -c x", {"/bin/sh", "-c", "x"}},
        {"--all /a /b", {}},
    };
    for (const auto& [line, command] : commands) {
        EXPECT_EQ(options_of(line).command, command) << line;
    }
    const variables bash{{"ZK_HOSTS", "zk1"}, {"SHELL", "/bin/bash"}};
    EXPECT_THAT(options_of({"/a", "-c", "a | b"}, bash).command,
                ElementsAre("/bin/bash", "-c", "a | b"));
}

TEST(LockOptions, EndAtTheFirstOperand) {
    const auto o = options_of("-n /a cmd -w 5 --verbose --help -s");
    EXPECT_TRUE(o.try_only);
    EXPECT_EQ(o.wait, std::nullopt);
    EXPECT_FALSE(o.verbose);
    EXPECT_EQ(o.command.size(), 6U);
}

TEST(LockOptions, DoNotTakeAValueForAnOperand) {
    const auto o = options_of("-w 5 -z zk2 --grace 1 -nE 9 /a x");
    EXPECT_EQ(o.wait, 5s);
    EXPECT_EQ(o.servers, "zk2");
    EXPECT_EQ(o.grace, 1s);
    EXPECT_EQ(o.conflict_status, 9);
    EXPECT_EQ(o.path, "/a");
    EXPECT_THAT(o.command, ElementsAre("x"));
}

TEST(LockOptions, CanBeWrittenInEveryUsualWay) {
    for (const char* way : {"-w 2.5 /a",
                            "-w2.5 /a",
                            "--wait=2.5 /a",
                            "--wait 2.5 /a",
                            "--timeout=2.5 /a",
                            "-xw2.5 /a",
                            "-w 1 -w 2.5 /a"}) {
        EXPECT_EQ(options_of(way).wait, 2500ms) << way;
        EXPECT_EQ(options_of(way).path, "/a") << way;
    }
    for (const char* way : {"-n /a", "--nb /a", "--nonblock /a", "-en /a", "-w 0.0 /a"}) {
        EXPECT_TRUE(options_of(way).try_only) << way;
        EXPECT_EQ(options_of(way).wait, std::nullopt) << way;
    }
}

TEST(LockOptions, FindServersOnTheLineThenInTheEnvironment) {
    const variables both{{"LATCHKEY_SERVERS", "first"}, {"ZK_HOSTS", "second"}};
    EXPECT_EQ(options_of("-z line /a", both).servers, "line");
    EXPECT_EQ(options_of("/a", both).servers, "first");
    EXPECT_EQ(options_of("/a", {{"LATCHKEY_SERVERS", ""}, {"ZK_HOSTS", "second"}}).servers,
              "second");
    EXPECT_THAT(refusal_of_line("/a", {}), HasSubstr("-z host:port"));
}

TEST(LockOptions, SayWhichKindOfLock) {
    using kind = lock_options::kind;
    EXPECT_EQ(options_of("/a").what, kind::mutex);
    for (const char* line : {"-x /a", "-sn /a", "--file /nowhere/f", "-s --key k"}) {
        EXPECT_EQ(options_of(line).what, kind::read_write) << line;
        EXPECT_EQ(options_of(line).mode,
                  std::string(line).starts_with("-s") ? lock_mode::shared : lock_mode::exclusive)
            << line;
    }
    EXPECT_EQ(options_of("--shared /a").mode, lock_mode::shared);
    EXPECT_EQ(options_of("-N3 /a").what, kind::semaphore);
    EXPECT_EQ(options_of("-N3 /a").permits, 3U);
    EXPECT_EQ(options_of("-N3 /a").limit, std::nullopt);
    EXPECT_EQ(options_of("--limit=4 /a").permits, 1U);
    EXPECT_EQ(options_of("--permits 4 --limit=4 /a").limit, 4U);
    EXPECT_EQ(options_of("--file /nowhere/f x y").path, "/files/:nowhere:f");
    EXPECT_EQ(options_of({"-s", "--key", "a b"}).path, "/files/a%20b");
    const auto several = options_of("--all /a /b -- x");
    EXPECT_EQ(several.what, kind::all);
    EXPECT_EQ(several.path, "/a /b");
    EXPECT_THAT(several.paths, ElementsAre("/a", "/b"));
}

TEST(LockOptions, RefusalsNameValueAndRemedy) {
    const std::vector<std::pair<const char*, const char*>> refusals{
        {"", "give its path"},
        {"-s -x /a", "shared or exclusive; leave one out"},
        {"-s -N 2 /a", "neither shared nor exclusive"},
        {"-x --limit 2 /a", "-x and --limit"},
        {"-N 3 --limit 2 /a", "-N 3 is more than --limit 2"},
        {"-N 0 /a", "'0' is not a number of permits; give one from 1 to 1000000000"},
        {"-N -1 /a", "'-1' is not a number of permits"},
        {"--limit 99999999999999999999 /a", "is not a number of permits"},
        {"-N 1 --file /f", "-N: a file has no permits"},
        {"--file /f --key k", "--file and --key: each names the lock"},
        {"--file /f /a -- x", "'/a' before '--': --file and --key take the place"},
        {"--file /f --", "no command after '--'"},
        {"--all", "give their paths"},
        {"--all -- -- x", "give their paths"},
        {"--all /a x", "'x' is not a PATH; with --all put '--' before the command"},
        {"--all -s /a /b", "--all and -s"},
        {"--all --file /f", "--all and --file"},
        {"-w -1 /a", "'-1' is negative"},
        {"-w nan /a", "'nan' is not a duration"},
        {"--wait= -n /a", "'--wait=' has no value"},
        {"-w", "-w"},
        {"-E 256 /a", "'256' is not an exit status; give a number from 0 to 255"},
        {"-E -1 /a", "'-1' is not an exit status"},
        {"-E 99999999999999999999 /a", "is not an exit status"},
        {"-t 0 /a", "'0' is too short"},
        {"-t 0.0001 /a", "too short"},
        {"--grace x /a", "'x' is not a duration"},
        {"--frobnicate /a", "--frobnicate"},
        {"-u /a", "-u"},
        {"-c x /a", "give its path before -c"},
        {"/a --", "no command after '--'"},
        {"/a -c", "exactly one argument"},
        {"/a -c a b", "quote it"},
        {"--lock-delay 1 -s /a", "--lock-delay: readers and permits have none"},
        {"--lock-delay 3601 /a", "--lock-delay: 3601 s is too long; give at most 3600"},
        {"/a -w 5 -- x", "'-w' after PATH: options come before it"},
        {"--tls-cert c /a", "--tls-cert 'c' needs --tls-ca"},
        {"--tls-name n /a", "--tls-name 'n' needs --tls-ca"},
        {"--tls-ca a --tls-key k /a", "--tls-key 'k' needs --tls-cert"},
        {"-t 8 --grace 2.01 /a", "2.01 s"},
        {"-t 8 --grace 2.01 /a", "8 s"},
        {"--max-hold 0.2 /a x", "0.2 s is too short"},
        {"--max-hold 2 --grace 2 /a x", "--grace"},
        {"--max-hold 5 --min-hold 6 /a x", "6 s"},
        {"--min-hold 5 /a", "no command"},
        {"--once-per 5 /a", "no command"},
        {"--once-per 0 /a x", "zero"},
        {"-q --verbose /a x", "-q"},
        {"-s --once-per 5 /a x", "--once-per"},
        {"-N 1 --once-per 5 /a x", "--once-per"},
        {"--all --once-per 5 /a /b -- x", "--once-per"},
    };
    for (const auto& [line, expected] : refusals) {
        EXPECT_THAT(refusal_of_line(line), HasSubstr(expected)) << line;
    }
}

TEST(LockOptions, RefuseEmptyAndLongWords) {
    const std::vector<std::pair<words, const char*>> refusals{
        {{"-N", "", "/a"}, "'' is not a number of permits"},
        {{"--file", ""}, "the name is empty"},
        {{"--key", ""}, "the key is empty"},
        {{"-w", "", "/a"}, "'' is not a duration"},
        {{"-E", "", "/a"}, "'' is not an exit status"},
        {{"/a", ""}, "empty word"},
        {{"--tls-ca", "", "/a"}, "--tls-ca: is empty"},
        {{"--on-lost", "", "/a", "x"}, "empty"},
        {{"--id", std::string(600, 'x'), "/a", "x"}, "--id"},
    };
    for (const auto& [arguments, expected] : refusals) {
        EXPECT_THAT(refusal_of_words(arguments), HasSubstr(expected)) << PrintToString(arguments);
    }
    words many{"--all"};
    many.insert(many.end(), 40, "/" + std::string(1000, 'p'));
    EXPECT_THAT(refusal_of_words(many), HasSubstr("40 PATHs are too many"));
}

TEST(LockOptions, SaturateASessionTimeoutThatTheProtocolCannotCarry) {
    EXPECT_EQ(options_of("-t 99999999999999999999999 /a").session_timeout,
              std::chrono::milliseconds(2147483647));
    EXPECT_EQ(options_of("-t 0.0015 /a").session_timeout, 2ms);
}

TEST(LockOptions, GraceIsWithinWhatTheServersGrant) {
    EXPECT_EQ(options_of("-t 8 --grace 2 /a").grace, 2s);
    const auto o = options_of("-t 40 --grace 8 /a");
    EXPECT_EQ(grace_within(o, 40s), 8s);
    EXPECT_THAT(refusal_of_action([&] { return grace_within(o, 4s); }),
                AllOf(HasSubstr("8 s"), HasSubstr("4 s that the servers granted")));
    // A twentieth of the timeout, at most two seconds, and half of --max-hold.
    EXPECT_EQ(grace_within(options_of("/a"), 4s), 200ms);
    EXPECT_EQ(grace_within(options_of("/a"), 10s), 500ms);
    EXPECT_EQ(grace_within(options_of("/a"), 60s), 2s);
    EXPECT_EQ(grace_within(options_of("--max-hold 1 /a x"), 60s), 500ms);
    EXPECT_EQ(grace_within(options_of("--max-hold 60 /a x"), 60s), 2s);
}

TEST(LockOptions, HelpAndVersionNeedNothingElse) {
    EXPECT_THAT(help_of_lock("-h"), StartsWith("Usage: latchkey lock "));
    EXPECT_EQ(help_of_lock("--help"), help_of_lock("-h"));
    EXPECT_EQ(help_of_lock("-V"), version_line());
    EXPECT_EQ(help_of_lock("--version"), version_line());
}

TEST(LockOptions, HelpFitsATerminalAndNamesEveryOption) {
    const auto text = help_of_lock("--help");
    for (const std::string& line : lines_of(text)) {
        EXPECT_LE(line.size(), 80U) << line;
    }
    for (const std::string& name :
         words_of("-z --servers -x -e --exclusive -s --shared -N --permits --limit --file --key "
                  "--all --id --data --max-hold --min-hold --once-per --lock-delay --on-lost -q "
                  "--quiet -n --nb --nonblock -w --wait --timeout -E --conflict-exit-code -t "
                  "--session-timeout --grace --auth-file --tls-ca --tls-cert --tls-key --tls-name "
                  "--pass-auth --verbose --json -c --version LATCHKEY_TOKEN LATCHKEY_AUTH 76")) {
        EXPECT_THAT(text, HasSubstr(name));
    }
}

TEST(LockOptions, LimitAHold) {
    const auto o =
        options_of("--max-hold 60 --min-hold 1.5 --once-per 3000 -q -E 9 --on-lost logger /a x");
    EXPECT_EQ(o.max_hold, 60s);
    EXPECT_EQ(o.min_hold, 1500ms);
    EXPECT_EQ(o.once_per, 3000s);
    EXPECT_EQ(o.on_lost, "logger");
    EXPECT_TRUE(o.quiet);
    EXPECT_EQ(o.skipped_status, 9);
    EXPECT_EQ(options_of("/a x").skipped_status, 0);
    EXPECT_EQ(options_of("-x --once-per 5 /a x").once_per, 5s);
}

const command_syntax look_syntax{
    .name = "look",
    .summary = "look at things",
    .usage = {{"", {"THING..."}}},
    .about = {},
    .options = {{{"--value", "V", "a value"}, {"-f", "", "a flag"}}},
    .exit_status = "0",
    .failures = {},
};

TEST(CommandLine, ReadsOptionsBehindOperandsUntilTwoDashes) {
    const auto line = command_line::read(look_syntax, words_of("a --value v b -f -- -x --value w"));
    EXPECT_THAT(line.operands, ElementsAre("a", "b", "-x", "--value", "w"));
    EXPECT_EQ(line.text("--value"), "v");
    EXPECT_TRUE(line.has("-f"));
}

TEST(CommandLine, RefusesWhatTheTableDoesNotKnow) {
    const std::pair<const char*, const char*> cases[]{
        {"a --other", "not expected: --other; see latchkey look --help"},
        {"-fx", "not expected: -x"},
        {"--value", "--value has no value"},
        {"--value=", "'--value=' has no value"},
    };
    for (const auto& [line, expected] : cases) {
        EXPECT_THAT(
            refusal_of_action([&] { return command_line::read(look_syntax, words_of(line)); }),
            HasSubstr(expected))
            << line;
    }
}

}  // namespace

}  // namespace latchkey::test
