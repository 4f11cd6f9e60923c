#include "completion/completion.hpp"
#include "completion/shell_words.hpp"
#include "options/help_text.hpp"
#include "output/exit_status.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using words = std::vector<std::string>;

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

    completion complete(const words& line) {
        return cli::complete(
            line,
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

words texts(const completion& found) {
    words all;
    for (const auto& one : found.candidates) {
        all.push_back(one.text);
    }
    return all;
}

words complete_line(const words& line) {
    return texts(servers().complete(line));
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

TEST(Completion, OffersCommandsAndOptions) {
    EXPECT_THAT(complete_line({""}), ElementsAre("run", "break", "who", "help"));
    EXPECT_THAT(complete_line({"r"}), ElementsAre("run"));
    EXPECT_THAT(complete_line({"help", "b"}), ElementsAre("break"));
    EXPECT_THAT(complete_line({"run", "--s"}), ElementsAre("--shared", "--servers"));
    EXPECT_THAT(complete_line({"nothing", ""}), IsEmpty());
    const auto found = servers().complete({"run", "--f"});
    ASSERT_EQ(found.candidates.size(), 1U);
    EXPECT_EQ(found.candidates[0].description, "instead of PATH");
}

TEST(Completion, OffersFilesForTheValueOfAnOption) {
    EXPECT_EQ(servers().complete({"run", "--file", ""}).then, completion::action::files);
    EXPECT_EQ(servers().complete({"run", "--file=x"}).then, completion::action::files);
    EXPECT_EQ(servers().complete({"run", "-E", ""}).then, completion::action::nothing);
}

TEST(Completion, OffersZnodesLevelByLevel) {
    servers s;
    const auto found = s.complete({"run", "-z", "zk1", "-E", "3", "/jo"});
    EXPECT_THAT(texts(found), ElementsAre("/jobs"));
    EXPECT_EQ(found.then, completion::action::no_space);
    EXPECT_THAT(s.options, ElementsAre("-z", "zk1", "-E", "3"));
    EXPECT_THAT(complete_line({"run", "/jobs/"}), ElementsAre("/jobs/a", "/jobs/b b"));
    EXPECT_THAT(complete_line({"run", "/jobs"}), ElementsAre("/jobs", "/jobs/a", "/jobs/b b"));
    EXPECT_THAT(complete_line({"run", ""}), ElementsAre("/jobs", "/zookeeper"));
    EXPECT_THAT(complete_line({"run", "jobs"}), IsEmpty());
}

TEST(Completion, OffersParticipantsOnlyWhereOneIsWanted) {
    EXPECT_THAT(complete_line({"break", "/jobs", ""}), ElementsAre("_c_1-lock-0000000001"));
    EXPECT_THAT(complete_line({"break", "/jobs", "_c_1-lock-0000000001", ""}), IsEmpty());
}

TEST(Completion, NeverOffersWhatATerminalWouldNotShowAsItIs) {
    EXPECT_THAT(complete_line({"run", "/jobs/"}), Not(Contains("/jobs/c\nd")));
}

TEST(Completion, LeavesTheCommandToTheShell) {
    const auto begins = [](const words& line) {
        const auto found = servers().complete(line);
        return found.then == completion::action::command ? static_cast<int>(found.command_begins)
                                                         : -1;
    };
    EXPECT_EQ(begins({"run", "/jobs/a", ""}), 2);
    EXPECT_EQ(begins({"run", "/jobs/a", "--", "l"}), 3);
    EXPECT_EQ(begins({"run", "-sE", "3", "/jobs/a", "ls", "-l", "x"}), 4);
    EXPECT_EQ(begins({"run", "--file", "x", "c"}), 3);
    EXPECT_EQ(begins({"run", "--all", "/jobs/a", "/jobs/b", "--", "ls"}), 5);
    EXPECT_EQ(begins({"run", "--all", "/jobs/a", "/jo"}), -1);
    EXPECT_EQ(begins({"run", "/jobs/a", "-c", ""}), -1);
    EXPECT_THAT(complete_line({"run", "--all", "/jobs/a", "/jo"}), ElementsAre("/jobs"));
}

TEST(Completion, NeedsNoMoreThanTwoListsForAnOperand) {
    servers s;
    static_cast<void>(s.complete({"run", "/jobs"}));
    EXPECT_THAT(s.asked, ElementsAre("/", "/jobs"));
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

}  // namespace latchkey::cli
