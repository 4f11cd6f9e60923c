#include "options/option_parser.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using testing::ElementsAre;

TEST(OptionParser, ReadsOptionsBehindOperandsUntilTwoDashes) {
    option_parser parser("test", "");
    std::optional<std::string> value;
    bool flag = false;
    parser.value("--value", value);
    parser.flag("-f", flag);
    EXPECT_THAT(parser.read_anywhere({"a", "--value", "v", "b", "-f", "--", "-x"}),
                ElementsAre("a", "b", "-x"));
    EXPECT_EQ(value, "v");
    EXPECT_TRUE(flag);
}

TEST(OptionParser, DescribesCommonOptionsWhereTheHelpWantsThem) {
    option_parser parser("test", "Usage\n\n{common}\n  -x  its own\n");
    parser.describe("{common}", "  -a  one\n  -b  two\n");
    parser.describe("{other}", "  -c  not here\n");
    std::string said;
    try {
        static_cast<void>(parser.read({"--help"}));
    } catch (const help_request& help) {
        said = help.what();
    }
    EXPECT_EQ(said, "Usage\n\n  -a  one\n  -b  two\n  -x  its own\n");
}

}  // namespace

}  // namespace latchkey::cli
