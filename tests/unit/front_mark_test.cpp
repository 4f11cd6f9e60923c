#include "queue/znode_names.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

const std::string znode = "_c_01234567-89ab-4def-8123-456789abcdef-lock-0000000017";

TEST(FrontMark, IsReadAsItWasWritten) {
    EXPECT_EQ(named_by_front_mark(front_mark(znode)), znode);
    EXPECT_EQ(front_mark(znode), "latchkey-first " + znode);
}

TEST(FrontMark, IsNoDataOfAnotherProgram) {
    for (const std::string& data : {std::string(),
                                    std::string("10.0.0.7"),
                                    znode,
                                    std::string("latchkey-first "),
                                    std::string("latchkey-first of all"),
                                    std::string("latchkey-first lock-17"),
                                    ' ' + front_mark(znode),
                                    front_mark(znode) + '\n',
                                    front_mark("_c_0-lock--000000001"),
                                    front_mark(std::string(1000, 'x') + znode)}) {
        EXPECT_EQ(named_by_front_mark(data), "") << data;
    }
}

TEST(FrontMark, TellsTwoAttemptsOfOneNumberApart) {
    const std::string other = "_c_11234567-89ab-4def-8123-456789abcdef-lock-0000000017";
    EXPECT_NE(named_by_front_mark(front_mark(other)), znode);
}

}  // namespace
}  // namespace latchkey
