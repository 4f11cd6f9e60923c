#include "options/duration_text.hpp"
#include "output/exit_status.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

nanoseconds parse(const char* text) {
    return parse_seconds("-w", text);
}

std::string refusal_of(const char* text) {
    try {
        static_cast<void>(parse(text));
    } catch (const usage_error& e) {
        return e.what();
    }
    return "";
}

TEST(Seconds, AreWholeOrFractions) {
    EXPECT_EQ(parse("0"), 0ns);
    EXPECT_EQ(parse("7"), 7s);
    EXPECT_EQ(parse("0.25"), 250ms);
    EXPECT_EQ(parse(".5"), 500ms);
    EXPECT_EQ(parse("3."), 3s);
    EXPECT_EQ(parse("007"), 7s);
    EXPECT_EQ(parse("1.0000000019"), 1s + 1ns);
}

TEST(Seconds, ThatAreTinyDoNotBecomeZero) {
    EXPECT_EQ(parse("0.0000000001"), 1ns);
}

TEST(Seconds, BeyondTheClockAreForEver) {
    EXPECT_EQ(parse("9999999999"), nanoseconds::max());
    EXPECT_EQ(parse("18446744073709551617"), nanoseconds::max());
    EXPECT_EQ(parse(std::string(400, '9').c_str()), nanoseconds::max());
    EXPECT_GT(parse("922337202.999999999"), 0ns);
}

TEST(Seconds, NeverWrapIntoTheNegative) {
    for (const char* text : {"9223372036", "9223372037", "9223372036.999999999", "9223372029.9"}) {
        EXPECT_GT(parse(text), 0ns) << text;
    }
}

TEST(Seconds, RefuseWhatIsNoPlainDecimal) {
    for (const char* text : {"",
                             ".",
                             "5s",
                             "1e3",
                             "+1",
                             " 1",
                             "1 ",
                             "nan",
                             "inf",
                             "0x10",
                             "1.2.3",
                             "1,5",
                             "--",
                             "-"}) {
        EXPECT_THAT(refusal_of(text), testing::HasSubstr("plain decimal")) << text;
    }
}

TEST(Seconds, RefusalNamesOptionAndValue) {
    EXPECT_EQ(refusal_of("-1"), "-w: '-1' is negative; give zero or more seconds");
    EXPECT_THAT(refusal_of("\x1b[2J"), testing::HasSubstr("'\\x1b[2J'"));
}

}  // namespace

}  // namespace latchkey::cli
