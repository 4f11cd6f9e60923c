#include "cli_words.hpp"
#include "completion/completion.hpp"
#include "completion/shell_words.hpp"
#include "options/command_line.hpp"
#include "options/help.hpp"
#include "options/man_page.hpp"
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

const command_syntax run_syntax{
    .name = "run",
    .summary = "run a command",
    .usage = {{"", {"PATH"}, "[[--] CMD [ARG]... | -c STRING]"},
              {"--file", {}, "[[--] CMD [ARG]...]"},
              {"--all", {"PATH..."}, "-- CMD [ARG]..."}},
    .about = {{"Runs CMD. Options end at PATH:", {{"one", "the first"}, {"further", "another"}}}},
    .options = {{{"-s, --shared", "", "the read lock, which several clients can hold"},
                 {"-E, --conflict-exit-code", "N", "exit status (0-255; 1)"},
                 {"--file", "FILE", "instead of PATH: locks FILE. It need not exist"},
                 {"--all", "", "all of several PATHs"}},
                {{"-z, --servers", "HOSTS", "host:port"}}},
    .examples = {"latchkey run /a -- ls"},
    .exit_status = "CMD's own",
    .failures = {{64, "wrong use"}, {127, "CMD not found"}},
};

const command_syntax break_syntax{
    .name = "break",
    .summary = "end a participant",
    .usage = {{"", {"PATH", "NODE"}}},
    .about = {},
    .options = {{{"--yes", "", "do not ask"}}},
    .exit_status = "0",
    .failures = {},
};

const command_syntax gate_syntax{
    .name = "gate",
    .summary = "open or close a gate",
    .usage = {{"", {"open|close", "PATH"}}},
    .about = {},
    .options = {},
    .exit_status = "0",
    .failures = {},
};

const std::vector<const command_syntax*> all_commands{&run_syntax, &break_syntax, &gate_syntax};

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
        return cli::complete(typed,
                             {.commands = all_commands,
                              .children_of = [&](const command_line& how, const std::string& path) {
                                  options = how.option_words;
                                  asked.push_back(path);
                                  if (path == "/") {
                                      return words{"jobs", "zookeeper"};
                                  }
                                  return path == "/jobs"
                                             ? words{"_c_1-lock-0000000001", "a", "b b", "c\nd"}
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

TEST(Help, ShowsAnEntryOfTheTableWithinEightyColumns) {
    EXPECT_EQ(help_of(run_syntax),
              R"(Usage: latchkey run [OPTION]... PATH [[--] CMD [ARG]... | -c STRING]
       latchkey run [OPTION]... --file FILE [[--] CMD [ARG]...]
       latchkey run [OPTION]... --all PATH... -- CMD [ARG]...

Runs CMD. Options end at PATH:
  one      the first
  further  another

  -s, --shared               the read lock, which several clients can hold
  -E, --conflict-exit-code N exit status (0-255; 1)
      --file FILE            instead of PATH: locks FILE. It need not exist
      --all                  all of several PATHs

  -z, --servers HOSTS        host:port
  -h, --help                 print this text
  -V, --version              print the version

EXAMPLES
  latchkey run /a -- ls

Exit status: CMD's own, and
   64  wrong use
  127  CMD not found
)");
}

TEST(Help, ListsTheCommandsOfTheTable) {
    EXPECT_THAT(help_of(program_syntax(all_commands)),
                HasSubstr("\n  run    run a command\n  break  end a participant\n"));
}

TEST(ManPage, HasThePartsOfTheTableInRoff) {
    const command_syntax look{
        .name = "look",
        .summary = "look at things",
        .usage = {{"", {"PATH"}}},
        .about = {{".hidden re-reads PATH, PATHS and $PATH; it's \\ here"}},
        .options = {{{"-w, --wait", "SEC", "give up, as --no-wait does", true}}},
        .examples = {"latchkey look /a | jq -r '.[0]'"},
        .exit_status = "0",
        .failures = {{1, "no PATH"}}};
    const std::string page = man_page(look, all_commands, "2026-01-02");
    for (const std::string part :
         {".TH LATCHKEY\\-LOOK 1 \"2026-01-02\" \"Latchkey ",
          ".SH NAME\nlatchkey\\-look \\- look at things\n",
          ".SH SYNOPSIS\n\\fBlatchkey\\fR \\fBlook\\fR [\\fIOPTION\\fR]... \\fIPATH\\fR\n",
          ".PP\n\\&.hidden re-reads \\fIPATH\\fR, PATHS and $PATH; it\\(aqs \\e here\n",
          ".TP\n\\fB\\-w\\fR, \\fB\\-\\-wait\\fR \\fISEC\\fR\ngive up, as "
          "\\fB\\-\\-no\\-wait\\fR does\n",
          ".SH EXIT STATUS\n0, and:\n.TP\n\\fB1\\fR\nno \\fIPATH\\fR\n",
          ".SH ENVIRONMENT\n.TP\n\\fBLATCHKEY_WAIT\\fR\nThe value of \\fB\\-\\-wait\\fR",
          ".nf\nlatchkey look /a | jq \\-r \\(aq.[0]\\(aq\n.fi\n",
          ".BR latchkey (1),\n.BR latchkey\\-break (1),\n.BR latchkey\\-gate (1),\n"}) {
        EXPECT_THAT(page, HasSubstr(part));
    }
}

TEST(Completion, OffersCommandsOptionsZnodesAndParticipants) {
    const std::pair<const char*, words> cases[]{
        {"", {"run", "break", "gate", "help"}},
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
        // Options behind operands, unless a command of the user can follow.
        {"break /jobs --", {"--yes", "--help", "--version"}},
        {"gate ", {"open", "close"}},
        {"gate cl", {"close"}},
        {"gate close /jo", {"/jobs"}},
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
