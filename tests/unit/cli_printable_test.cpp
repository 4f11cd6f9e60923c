#include "printable.hpp"

#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

TEST(Printable, LeavesTextAlone) {
    EXPECT_EQ(printable("/jobs/Nächtlich 日本 🔑"), "/jobs/Nächtlich 日本 🔑");
}

TEST(Printable, EscapesControlCharacters) {
    EXPECT_EQ(printable("a\x1b[31m\n\t\r\x7f"), "a\\x1b[31m\\n\\t\\r\\x7f");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(printable("\xc2\x9b"), "\\u{9b}");
}

TEST(Printable, EscapesWhatReordersOrBreaksLines) {
    EXPECT_EQ(printable("\u202egpj"), "\\u{202e}gpj");
    EXPECT_EQ(printable("\u2066\u2028"), "\\u{2066}\\u{2028}");
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
    EXPECT_EQ(printable("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
    EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
    EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");           // longer than need be
}

TEST(Printable, CannotBeConfusedWithWhatItEscapes) {
    EXPECT_EQ(printable("\\x1b"), "\\\\x1b");
}

TEST(Printable, MessagesAreNotEscapedTwice) {
    EXPECT_EQ(printable_message("path \\x1b \x1b"), "path \\x1b \\x1b");
}

}  // namespace

}  // namespace latchkey::cli
