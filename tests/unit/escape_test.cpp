#include "text/escape.hpp"

#include <ios>

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

TEST(Escape, EscapesWhatIsInvisibleOrBlank) {
    for (const char32_t c :
         {0xA0U,    0xADU,    0x34FU,   0x61CU,   0x115FU,  0x1160U,  0x1680U,  0x17B4U,
          0x17B5U,  0x180BU,  0x180EU,  0x180FU,  0x2000U,  0x2009U,  0x200AU,  0x200BU,
          0x202FU,  0x205FU,  0x2060U,  0x2065U,  0x2800U,  0x3000U,  0x3164U,  0xFE00U,
          0xFE0FU,  0xFEFFU,  0xFFA0U,  0xFFF0U,  0x13430U, 0x13442U, 0x16FE4U, 0x1BCA0U,
          0x1D159U, 0x1D173U, 0xE0001U, 0xE0100U, 0xE0FFFU}) {
        EXPECT_TRUE(is_deceptive(c)) << std::hex << static_cast<unsigned>(c);
    }
    EXPECT_EQ(escaped("job\u00ad s"), "job\\u{ad} s");
    EXPECT_EQ(escaped("job\u3164"), "job\\u{3164}");
    EXPECT_EQ(escaped("job\u00a0s"), "job\\u{a0}s");
    EXPECT_EQ(escaped_message("job\U000e0100"), "job\\u{e0100}");
}

TEST(Escape, LeavesLettersSignsAndJoinersBesideThem) {
    for (const char32_t c : {0x20U,
                             0xA1U,
                             0xACU,
                             0xAEU,
                             0x34EU,
                             0x115EU,
                             0x1161U,
                             0x200CU,
                             0x200DU,
                             0x2010U,
                             0x2801U,
                             0x3001U,
                             0x3163U,
                             0x3165U,
                             0xFE10U,
                             0xFF9FU,
                             0xFFA1U,
                             0xFFFDU,
                             0x1F511U}) {
        EXPECT_FALSE(is_deceptive(c)) << std::hex << static_cast<unsigned>(c);
    }
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
