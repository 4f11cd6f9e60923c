#include "text/path.hpp"

#include <latchkey/error.hpp>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct path_case {
    const char* why;
    std::string path;
    const char* problem;  ///< what the message says; nullptr: the path is fine
};

class PathRule : public ::testing::TestWithParam<path_case> {};

TEST_P(PathRule, Holds) {
    const path_case& c = GetParam();
    const std::string problem = path_problem(c.path);
    if (c.problem == nullptr) {
        EXPECT_THAT(problem, IsEmpty()) << escaped(c.path);
        EXPECT_NO_THROW(check_path(c.path));
    } else {
        EXPECT_THAT(problem, HasSubstr(c.problem)) << escaped(c.path);
        EXPECT_THROW(check_path(c.path), error);
    }
}

std::string path_of_length(std::size_t length) {
    return "/" + std::string(length - 1, 'a');
}

const char* const no_utf8 = "is not UTF-8";
const char* const control = "control character";
const char* const disallowed = "which ZooKeeper does not allow";
const char* const deceptive = "invisible or direction-changing";

INSTANTIATE_TEST_SUITE_P(
    Table,
    PathRule,
    ::testing::Values(path_case{"one_level", "/a", nullptr},
                      path_case{"levels", "/jobs/nightly/2024-01-01", nullptr},
                      path_case{"blank_inside", "/a b/c d", nullptr},
                      path_case{"dots_inside_a_name", "/a..b/.hidden/...", nullptr},
                      path_case{"punctuation", "/a:b,c;d\"e'f\\g%h", nullptr},
                      path_case{"two_byte_letters", "/caf\u00E9", nullptr},
                      path_case{"three_byte_letters", "/\u9501", nullptr},
                      path_case{"blank_of_typography", "/a\u00A0b\u3000c", nullptr},
                      path_case{"joiners_of_living_scripts", "/\u0646\u200C\u0627", nullptr},
                      path_case{"last_before_surrogates", "/\uD7FF", nullptr},
                      path_case{"zookeeper_is_only_a_prefix", "/zookeepers", nullptr},
                      path_case{"zookeeper_deeper", "/a/zookeeper", nullptr},
                      path_case{"longest", path_of_length(1024), nullptr},

                      path_case{"empty", "", "is not absolute"},
                      path_case{"relative", "a/b", "is not absolute"},
                      path_case{"blank_before", " /a", "is not absolute"},
                      path_case{"root", "/", "is the root"},
                      path_case{"trailing_slash", "/a/", "empty component"},
                      path_case{"doubled_slash", "/a//b", "empty component"},
                      path_case{"doubled_slash_in_front", "//a", "empty component"},
                      path_case{"only_slashes", "//", "empty component"},
                      path_case{"dot_in_front", "/./a", "component '.'"},
                      path_case{"dot_at_the_end", "/a/.", "component '.'"},
                      path_case{"dots", "/a/../b", "component '..'"},
                      path_case{"dots_in_front", "/../b", "component '..'"},
                      path_case{"dots_at_the_end", "/a/..", "component '..'"},
                      path_case{"too_long", path_of_length(1025), "is 1025 bytes long"},
                      path_case{"zookeeper_itself", "/zookeeper", "belongs to ZooKeeper"},
                      path_case{"zookeeper_below", "/zookeeper/config", "belongs to ZooKeeper"},

                      path_case{"nul", "/a\0b"s, control},
                      path_case{"nul_at_the_end", "/a\0"s, control},
                      path_case{"newline", "/a\nb", control},
                      path_case{"escape", "/a\x1B[2J", control},
                      path_case{"unit_separator", "/a\x1F", control},
                      path_case{"delete", "/a\x7F", control},
                      path_case{"first_c1", "/a\u0080", control},
                      path_case{"c1_csi", "/a\u009B", control},
                      path_case{"last_c1", "/a\u009F", control},

                      path_case{"stray_continuation", "/a\x80", no_utf8},
                      path_case{"cut_short", "/a\xE2\x82", no_utf8},
                      path_case{"lead_without_continuation", "/a\xC3(", no_utf8},
                      path_case{"overlong_slash", "/a\xC0\xAF", no_utf8},
                      path_case{"overlong_nul", "/a\xC0\x80", no_utf8},
                      path_case{"overlong_three", "/a\xE0\x80\xAF", no_utf8},
                      path_case{"overlong_four", "/a\xF0\x80\x80\xAF", no_utf8},
                      path_case{"surrogate", "/a\xED\xA0\x80", no_utf8},
                      path_case{"beyond_unicode", "/a\xF4\x90\x80\x80", no_utf8},
                      path_case{"lead_f5", "/a\xF5\x80\x80\x80", no_utf8},
                      path_case{"latin1", "/caf\xE9", no_utf8},

                      path_case{"private_use_first", "/\uE000", disallowed},
                      path_case{"private_use_last", "/\uF8FF", disallowed},
                      path_case{"noncharacter_fdd0", "/\uFDD0", disallowed},
                      path_case{"specials_first", "/\uFFF0", disallowed},
                      path_case{"replacement", "/\uFFFD", disallowed},
                      path_case{"noncharacter_fffe", "/\uFFFE", disallowed},
                      path_case{"noncharacter_ffff", "/\uFFFF", disallowed},
                      // The servers look at UTF-16, in which these are surrogates.
                      path_case{"first_supplementary", "/\U00010000", disallowed},
                      path_case{"emoji", "/\U0001F512", disallowed},
                      path_case{"supplementary_noncharacter", "/\U0001FFFE", disallowed},
                      path_case{"last_of_unicode", "/\U0010FFFF", disallowed},

                      path_case{"right_to_left_override", "/a\u202E", deceptive},
                      path_case{"isolate", "/a\u2066", deceptive},
                      path_case{"right_to_left_mark", "/a\u200F", deceptive},
                      path_case{"arabic_letter_mark", "/a\u061C", deceptive},
                      path_case{"line_separator", "/a\u2028", deceptive},
                      path_case{"zero_width_space", "/a\u200B", deceptive},
                      path_case{"word_joiner", "/a\u2060", deceptive},
                      path_case{"byte_order_mark", "/\uFEFFa", deceptive}),
    [](const auto& tested) { return std::string(tested.param.why); });

TEST(Path, ErrorNamesThePathEscapedAndTheCode) {
    try {
        check_path("/a\x1B[2J\nb");
        FAIL() << "not refused";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        EXPECT_THAT(e.what(), HasSubstr("path \"/a\\x1b[2J\\nb\""));
    }
}

TEST(Path, ErrorOfAHugePathIsBounded) {
    try {
        check_path("/" + std::string(1'000'000, '\x1B'));
        FAIL() << "not refused";
    } catch (const error& e) {
        EXPECT_LT(std::string(e.what()).size(), 5000U);
        EXPECT_THAT(e.what(), HasSubstr("1000001 bytes"));
    }
}

TEST(Path, JoinsWithOneSlash) {
    EXPECT_EQ(join_path("/a", "b"), "/a/b");
    EXPECT_EQ(join_path("/", "b"), "/b");
    EXPECT_EQ(join_path("/a/b", "c"), "/a/b/c");
}

TEST(Path, NameIsTheLastComponent) {
    EXPECT_EQ(name_of("/a/b"), "b");
    EXPECT_EQ(name_of("/a"), "a");
    EXPECT_EQ(name_of("a"), "a");
    EXPECT_EQ(name_of(""), "");
}

TEST(Path, PrefixesAreTheLevelsFromTheTop) {
    EXPECT_THAT(prefixes_of("/a/b/c"), ElementsAre("/a", "/a/b", "/a/b/c"));
    EXPECT_THAT(prefixes_of("/a"), ElementsAre("/a"));
}

struct escape_case {
    const char* why;
    std::string text;
    std::string shown;
};

class Escaping : public ::testing::TestWithParam<escape_case> {};

TEST_P(Escaping, ShowsWhatIsThere) {
    EXPECT_EQ(escaped(GetParam().text), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    Escaping,
    ::testing::Values(
        escape_case{"nothing", "", ""},
        escape_case{"plain", "/jobs/a b", "/jobs/a b"},
        escape_case{"letters_stay", "caf\u00E9 \u9501 \U0001F512", "caf\u00E9 \u9501 \U0001F512"},
        escape_case{"nul", "a\0b"s, "a\\x00b"},
        escape_case{"c0", "\a\b\t\n\r", "\\x07\\x08\\t\\n\\r"},
        escape_case{"esc_sequence", "\x1B]0;owned\a", "\\x1b]0;owned\\x07"},
        escape_case{"delete", "\x7F", "\\x7f"},
        escape_case{"c1", "\u0085\u009B", "\\u{85}\\u{9b}"},
        escape_case{"backslash_is_unambiguous", "\\x1b", "\\\\x1b"},
        escape_case{"stray_byte",
                    "a\x9B"
                    "b",
                    "a\\x9bb"},
        escape_case{"cut_short", "\xE2\x82", "\\xe2\\x82"},
        escape_case{"overlong", "\xC0\xAF", "\\xc0\\xaf"},
        escape_case{"surrogate", "\xED\xA0\x80", "\\xed\\xa0\\x80"},
        escape_case{"beyond_unicode", "\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        escape_case{"bidi_override", "a\u202Eb", "a\\u{202e}b"},
        escape_case{"bidi_isolate", "\u2066\u2069", "\\u{2066}\\u{2069}"},
        escape_case{"bidi_marks", "\u200E\u200F\u061C", "\\u{200e}\\u{200f}\\u{61c}"},
        escape_case{"separators", "\u2028\u2029", "\\u{2028}\\u{2029}"},
        escape_case{"invisible", "\u200B\u2060\uFEFF", "\\u{200b}\\u{2060}\\u{feff}"},
        escape_case{"annotation", "\uFFF9", "\\u{fff9}"},
        escape_case{"tags", "\U000E0041", "\\u{e0041}"},
        escape_case{"noncharacters", "\uFFFE\uFDD0", "\\u{fffe}\\u{fdd0}"}),
    [](const auto& tested) { return std::string(tested.param.why); });

TEST(Escaping, LeavesNothingToATerminalWhateverTheBytes) {
    std::string all;
    for (int first = 0; first < 256; ++first) {
        for (int second = 0; second < 256; ++second) {
            all.push_back(static_cast<char>(first));
            all.push_back(static_cast<char>(second));
        }
    }
    const std::string shown = escaped(all);
    for (const char c : shown) {
        const auto byte = static_cast<unsigned char>(c);
        ASSERT_TRUE(byte >= 0x20 && byte != 0x7F);
    }
    // What is shown is UTF-8 and needs no more escaping than its own backslashes.
    std::string doubled;
    for (const char c : shown) {
        doubled += c == '\\' ? std::string("\\\\") : std::string(1, c);
    }
    EXPECT_EQ(escaped(shown), doubled);
}

}  // namespace
}  // namespace latchkey
