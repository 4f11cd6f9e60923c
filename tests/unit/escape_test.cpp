#include "text/escape.hpp"

#include <gtest/gtest.h>

namespace latchkey {

namespace {

TEST(Escape, LeavesTextAlone) {
    EXPECT_EQ(escaped("/jobs/Nächtlich 日本 🔑"), "/jobs/Nächtlich 日本 🔑");
}

TEST(Escape, EscapesControlCharacters) {
    EXPECT_EQ(escaped("a\x1b[31m\n\t\r\x7f"), "a\\x1b[31m\\n\\t\\r\\x7f");
    EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(escaped("\xc2\x9b"), "\\u{9b}");
}

TEST(Escape, EscapesWhatReordersOrBreaksLines) {
    EXPECT_EQ(escaped("\u202egpj"), "\\u{202e}gpj");
    EXPECT_EQ(escaped("\u2066\u2028"), "\\u{2066}\\u{2028}");
}

TEST(Escape, EscapesBytesThatAreNotUtf8) {
    EXPECT_EQ(escaped("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
    EXPECT_EQ(escaped("\xe2\x82"), "\\xe2\\x82");
    EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
    EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
    EXPECT_EQ(escaped("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");           // longer than need be
}

TEST(Escape, CannotBeConfusedWithWhatItEscapes) {
    EXPECT_EQ(escaped("\\x1b"), "\\\\x1b");
}

TEST(Escape, MessagesAreNotEscapedTwice) {
    EXPECT_EQ(escaped_message("path \\x1b \x1b"), "path \\x1b \\x1b");
}

}  // namespace

}  // namespace latchkey
