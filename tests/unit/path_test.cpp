#include "text/path.hpp"

#include <latchkey/error.hpp>

#include "text/escape.hpp"

#include <string>
#include <utility>
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

std::string path_of_length(std::size_t length) {
    return "/" + std::string(length - 1, 'a');
}

struct path_rule {
    const char* problem;  ///< what the message says; nullptr: the paths are fine
    std::vector<std::string> paths;
};

TEST(PathRule, Holds) {
    constexpr const char* fine = nullptr;
    constexpr const char* empty = "empty component";
    constexpr const char* control = "control character";
    constexpr const char* no_utf8 = "is not UTF-8";
    constexpr const char* disallowed = "which ZooKeeper does not allow";
    constexpr const char* deceptive = "invisible or direction-changing";
    for (const auto& [expected, paths] : {
             path_rule{fine, {"/a", "/jobs/nightly/2024-01-01", "/a b/c d", "/a..b/.hidden/..."}},
             path_rule{fine, {"/a:b,c;d\"e'f\\g%h", "/caf\u00E9", "/\u9501", "/a\u00A0b\u3000c"}},
             // Joiners of living scripts, and the last one before the surrogates.
             path_rule{fine, {"/\u0646\u200C\u0627", "/\uD7FF"}},
             path_rule{fine, {"/zookeepers", "/a/zookeeper", path_of_length(1024)}},
             path_rule{"is not absolute", {"", "a/b", " /a"}},
             path_rule{"is the root", {"/"}},
             path_rule{empty, {"/a/", "/a//b", "//a", "//"}},
             path_rule{"component '.'", {"/./a", "/a/."}},
             path_rule{"component '..'", {"/a/../b", "/../b", "/a/.."}},
             path_rule{"is 1025 bytes long", {path_of_length(1025)}},
             path_rule{"belongs to ZooKeeper", {"/zookeeper", "/zookeeper/config"}},
             path_rule{control, {"/a\0b"s, "/a\0"s, "/a\nb", "/a\x1B[2J", "/a\x1F", "/a\x7F"}},
             path_rule{control, {"/a\u0080", "/a\u009B", "/a\u009F"}},
             path_rule{no_utf8,
                       {"/a\x80", "/a\xE2\x82", "/a\xC3(", "/caf\xE9", "/a\xF5\x80\x80\x80"}},
             // Longer than need be, a surrogate, and beyond Unicode.
             path_rule{no_utf8,
                       {"/a\xC0\xAF", "/a\xC0\x80", "/a\xE0\x80\xAF", "/a\xF0\x80\x80\xAF"}},
             path_rule{no_utf8, {"/a\xED\xA0\x80", "/a\xF4\x90\x80\x80"}},
             // Private use, noncharacters and specials.
             path_rule{disallowed, {"/\uE000", "/\uF8FF", "/\uFDD0", "/\uFFF0", "/\uFFFD"}},
             path_rule{disallowed, {"/\uFFFE", "/\uFFFF"}},
             // The servers look at UTF-16, in which these are surrogates.
             path_rule{disallowed, {"/\U00010000", "/\U0001F512", "/\U0001FFFE", "/\U0010FFFF"}},
             path_rule{deceptive, {"/a\u202E", "/a\u2066", "/a\u200F", "/a\u061C", "/a\u2028"}},
             path_rule{deceptive, {"/a\u200B", "/a\u2060", "/\uFEFFa"}},
         }) {
        for (const std::string& path : paths) {
            const std::string problem = path_problem(path);
            if (expected == nullptr) {
                EXPECT_THAT(problem, IsEmpty()) << escaped(path);
                EXPECT_NO_THROW(check_path(path)) << escaped(path);
            } else {
                EXPECT_THAT(problem, HasSubstr(expected)) << escaped(path);
                EXPECT_THROW(check_path(path), error) << escaped(path);
            }
        }
    }
}

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

TEST(Escaping, ShowsWhatIsThere) {
    for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
             {"", ""},
             {"/jobs/a b", "/jobs/a b"},
             {"caf\u00E9 \u9501 \U0001F512", "caf\u00E9 \u9501 \U0001F512"},
             {"a\0b"s, "a\\x00b"},
             {"\a\b\t\n\r", "\\x07\\x08\\t\\n\\r"},
             {"\x1B]0;owned\a", "\\x1b]0;owned\\x07"},
             {"\x7F", "\\x7f"},
             {"\u0085\u009B", "\\u{85}\\u{9b}"},
             {"\\x1b", "\\\\x1b"},
             {"a\x9B]", "a\\x9b]"},
             {"\xFF", "\\xff"},
             {"\xE2\x82", "\\xe2\\x82"},  // cut short
             {"\xC0\xAF", "\\xc0\\xaf"},  // longer than need be
             {"\xE0\x80\x9B", "\\xe0\\x80\\x9b"},
             {"\xED\xA0\x80", "\\xed\\xa0\\x80"},           // a surrogate
             {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
             {"a\u202Eb", "a\\u{202e}b"},
             {"\u2066\u2069", "\\u{2066}\\u{2069}"},
             {"\u200E\u200F\u061C", "\\u{200e}\\u{200f}\\u{61c}"},
             {"\u2028\u2029", "\\u{2028}\\u{2029}"},
             {"\u200B\u2060\uFEFF", "\\u{200b}\\u{2060}\\u{feff}"},
             {"\uFFF9", "\\u{fff9}"},
             {"\U000E0041", "\\u{e0041}"},
             {"\uFFFE\uFDD0", "\\u{fffe}\\u{fdd0}"},
             {"job\u00ad s", "job\\u{ad} s"},
             {"job\u3164", "job\\u{3164}"},
             {"job\u00a0s", "job\\u{a0}s"}}) {
        EXPECT_EQ(escaped(text), shown);
    }
}

TEST(Escaping, OfMessagesIsNotDoneTwice) {
    EXPECT_EQ(escaped_message("path \\x1b \x1b"), "path \\x1b \\x1b");
    EXPECT_EQ(escaped_message("job\U000e0100"), "job\\u{e0100}");
}

TEST(Escaping, IsForWhatIsInvisibleOrBlankAndNotForLettersAndJoinersBesideThem) {
    const std::u32string invisible =
        U"\u00A0\u00AD\u034F\u061C\u115F\u1160\u1680\u17B4\u17B5\u180B\u180E\u180F\u2000\u2009"
        U"\u200A"
        U"\u200B\u202F\u205F\u2060\u2065\u2800\u3000\u3164\uFE00\uFE0F\uFEFF\uFFA0\uFFF0\U00013430"
        U"\U00013442\U00016FE4\U0001BCA0\U0001D159\U0001D173\U000E0001\U000E0100\U000E0FFF";
    for (const char32_t c : invisible) {
        EXPECT_TRUE(is_deceptive(c)) << std::hex << static_cast<unsigned>(c);
    }
    const std::u32string visible =
        U" \u00A1\u00AC\u00AE\u034E\u115E\u1161\u200C\u200D\u2010\u2801\u3001\u3163\u3165\uFE10"
        U"\uFF9F\uFFA1\uFFFD\U0001F511";
    for (const char32_t c : visible) {
        EXPECT_FALSE(is_deceptive(c)) << std::hex << static_cast<unsigned>(c);
    }
}

}  // namespace
}  // namespace latchkey
