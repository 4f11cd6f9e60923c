#include "cli_words.hpp"
#include "completion/completion.hpp"
#include "completion/shell_words.hpp"
#include "options/help_text.hpp"
#include "output/exit_status.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {

namespace {

using namespace latchkey::cli;

constexpr const char* run_help = R"(Usage: latchkey run [OPTION]... PATH [--] CMD [ARG]...
       latchkey run [-s|-x] --file FILE ...
       latchkey run --all PATH... -- CMD [ARG]...

Runs CMD. Options end at PATH:

  (none of these)            a mutex
  -s, --shared               the read lock, which several clients can hold
  -E, --conflict-exit-code N exit status (0-255; 1)
      --file FILE            instead of PATH: locks FILE. It
                             need not exist
      --all                  all of several PATHs
  -z, --servers HOSTS        host:port

Exit status: CMD's own; and
   64  wrong use                           77  not authorized
)";

constexpr const char* break_help = R"(Usage: latchkey break [OPTION]... PATH NODE

      --yes  do not ask
)";

constexpr const char* whole_help = R"(Usage: latchkey COMMAND [OPTION]...

Locks.

Commands:
  run    run a command
  break  end a participant

More commands:
  who    show
         a queue

  -h, --help  print this text
)";

std::string help_of(const std::string& command) {
    if (command.empty()) {
        return whole_help;
    }
    return command == "run" ? run_help : command == "break" ? break_help : "";
}

/// The znodes: /jobs/a, /jobs/b b and more, whatever the options say.
struct servers {
    words options = {};
    words asked = {};

    /// A blank at the end of the line begins an empty word.
    completion complete(const std::string& line) {
        words typed = words_of(line);
        if (line.empty() || line.ends_with(' ')) {
            typed.emplace_back();
        }
        return cli::complete(
            typed,
            {.help_of = help_of, .children_of = [&](const words& how, const std::string& path) {
                 options = how;
                 asked.push_back(path);
                 if (path == "/") {
                     return words{"jobs", "zookeeper"};
                 }
                 return path == "/jobs" ? words{"_c_1-lock-0000000001", "a", "b b", "c\nd"}
                                        : words{};
             }});
    }
};

words candidates_of(const completion& found) {
    words all;
    for (const auto& one : found.candidates) {
        all.push_back(one.text);
    }
    return all;
}

TEST(HelpText, HasOptionsWithTheirValuesAndTexts) {
    const auto help = read_help(run_help);
    ASSERT_EQ(help.options.size(), 5U);
    EXPECT_THAT(help.options[0].names, ElementsAre("-s", "--shared"));
    EXPECT_EQ(help.options[0].value, "");
    EXPECT_EQ(help.options[1].value, "N");
    EXPECT_EQ(help.options[1].text, "exit status (0-255; 1)");
    EXPECT_EQ(help.option("--file")->text, "instead of PATH: locks FILE. It need not exist");
    EXPECT_EQ(help.option("-q"), nullptr);
}

TEST(HelpText, HasTheFormsOfUse) {
    const auto help = read_help(run_help);
    ASSERT_EQ(help.usage.size(), 3U);
    EXPECT_THAT(help.usage[0].operands, ElementsAre("PATH", "CMD", "ARG"));
    EXPECT_THAT(help.usage[1].flags, ElementsAre("--file"));
    EXPECT_THAT(help.usage[1].operands, ElementsAre("..."));
    EXPECT_THAT(help.usage[2].flags, ElementsAre("--all"));
    EXPECT_THAT(help.usage[2].operands, ElementsAre("PATH"));
    EXPECT_TRUE(help.usage[2].repeats);
}

TEST(HelpText, HasTheCommandsOfAllLists) {
    const auto help = read_help(whole_help);
    ASSERT_EQ(help.commands.size(), 3U);
    EXPECT_EQ(help.commands[0].first, "run");
    EXPECT_EQ(help.commands[0].second, "run a command");
    EXPECT_EQ(help.commands[2].first, "who");
}

TEST(Completion, OffersCommandsOptionsZnodesAndParticipants) {
    const std::pair<const char*, words> cases[]{
        {"", {"run", "break", "who", "help"}},
        {"r", {"run"}},
        {"help b", {"break"}},
        {"run --s", {"--shared", "--servers"}},
        {"nothing ", {}},
        {"run ", {"/jobs", "/zookeeper"}},
        {"run jobs", {}},
        {"run /jobs", {"/jobs", "/jobs/a", "/jobs/b b"}},
        {"run --all /jobs/a /jo", {"/jobs"}},
        // Never what a terminal would not show as it is.
        {"run /jobs/", {"/jobs/a", "/jobs/b b"}},
        // Participants only where one is wanted.
        {"break /jobs ", {"_c_1-lock-0000000001"}},
        {"break /jobs _c_1-lock-0000000001 ", {}},
    };
    for (const auto& [line, expected] : cases) {
        EXPECT_EQ(candidates_of(servers().complete(line)), expected) << line;
    }
    const auto found = servers().complete("run --f");
    ASSERT_THAT(found.candidates, SizeIs(1));
    EXPECT_EQ(found.candidates[0].description, "instead of PATH");
}

TEST(Completion, OffersFilesForTheValueOfAnOption) {
    EXPECT_EQ(servers().complete("run --file ").then, completion::action::files);
    EXPECT_EQ(servers().complete("run --file=x").then, completion::action::files);
    EXPECT_EQ(servers().complete("run -E ").then, completion::action::nothing);
}

TEST(Completion, AsksTheServersOfTheOptionsForNoMoreThanTwoLists) {
    servers s;
    const auto found = s.complete("run -z zk1 -E 3 /jo");
    EXPECT_THAT(candidates_of(found), ElementsAre("/jobs"));
    EXPECT_EQ(found.then, completion::action::no_space);
    EXPECT_THAT(s.options, ElementsAre("-z", "zk1", "-E", "3"));
    servers other;
    static_cast<void>(other.complete("run /jobs"));
    EXPECT_THAT(other.asked, ElementsAre("/", "/jobs"));
}

TEST(Completion, LeavesTheCommandToTheShell) {
    const std::pair<const char*, std::size_t> cases[]{
        {"run /jobs/a ", 2},
        {"run /jobs/a -- l", 3},
        {"run -sE 3 /jobs/a ls -l x", 4},
        {"run --file x c", 3},
        {"run --all /jobs/a /jobs/b -- ls", 5},
    };
    for (const auto& [line, begin] : cases) {
        const auto found = servers().complete(line);
        EXPECT_EQ(found.then, completion::action::command) << line;
        EXPECT_EQ(found.command_begins, begin) << line;
    }
    for (const char* line : {"run --all /jobs/a /jo", "run /jobs/a -c "}) {
        EXPECT_NE(servers().complete(line).then, completion::action::command) << line;
    }
}

TEST(ShellWords, AreReadWithoutBeingEvaluated) {
    EXPECT_EQ(read_typed_word("/a\\ b").text, "/a b");
    EXPECT_EQ(read_typed_word("'/a $(x)'").text, "/a $(x)");
    EXPECT_EQ(read_typed_word("\"/a\\$b\\c").text, "/a$b\\c");
    EXPECT_EQ(read_typed_word("\"/a").open, '"');
    EXPECT_EQ(read_typed_word("'/a'").open, '\0');
    EXPECT_EQ(read_typed_word("/a\\").text, "/a");
    EXPECT_EQ(read_typed_word("").text, "");
}

TEST(ShellWords, AreQuotedAsTheyWereBegun) {
    const std::string hostile = "/$(x) `y`;'\"\\~*";
    EXPECT_EQ(quoted_like({}, hostile), "/\\$\\(x\\)\\ \\`y\\`\\;\\'\\\"\\\\\\~\\*");
    EXPECT_EQ(quoted_like({"", '"'}, hostile), "/\\$(x) \\`y\\`;'\\\"\\\\~*");
    EXPECT_EQ(quoted_like({"", '\''}, "/$(x)"), "/$(x)");
    EXPECT_EQ(quoted_like({"", '\''}, hostile), std::nullopt);
    EXPECT_EQ(quoted_like({"", '"'}, "/now!"), std::nullopt);
    EXPECT_EQ(quoted_like({}, "/\u00fc"), "/\u00fc");
}

}  // namespace

}  // namespace latchkey::test
