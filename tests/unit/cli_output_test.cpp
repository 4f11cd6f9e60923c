#include "cli_words.hpp"
#include "look/leader_text.hpp"
#include "options/members_options.hpp"
#include "output/status_output.hpp"
#include "run/held_resource.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

// What is written to a pipe whose reader is slow, or reads no more; and what JSON is written in.

namespace latchkey::test {

namespace {

using namespace latchkey::cli;

class Output : public ::testing::TestWithParam<int> {
protected:
    Output() {
        EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK), 0);
        while (::write(ends_[1], "x", 1) == 1) {
            ++before_;
        }
        EXPECT_EQ(::fcntl(ends_[0], F_SETFL, 0), 0);
        EXPECT_EQ(::fcntl(ends_[1], F_SETFL, GetParam()), 0);
    }

    ~Output() override {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

    /// The next of what was written.
    std::string read(std::size_t count) const {
        std::string text(count, '\0');
        for (std::size_t got = 0; got < count;) {
            const auto size = ::read(ends_[0], &text[got], count - got);
            if (size <= 0) {
                return "";
            }
            got += static_cast<std::size_t>(size);
        }
        return text;
    }

    std::array<int, 2> ends_{};
    std::size_t before_ = 0;
};

TEST_P(Output, WaitsForASlowReader) {
    std::string text;
    while (text.size() < std::size_t{50} * PIPE_BUF) {
        text += std::to_string(text.size()) + ' ';
    }
    int asked = 0;
    std::jthread reading;
    std::string seen;
    EXPECT_TRUE(write_to(ends_[1], text, [&] {
        if (++asked == 1) {
            reading = std::jthread([&] {
                static_cast<void>(read(before_));
                seen = read(text.size());
            });
        }
        return true;
    })) << errno;
    reading.join();
    EXPECT_EQ(seen, text);
}

TEST_P(Output, IsGivenUpWhenNobodyReads) {
    int asked = 0;
    EXPECT_FALSE(write_to(ends_[1], "text", [&] { return ++asked < 3; }));
    EXPECT_EQ(errno, ETIMEDOUT);
    EXPECT_EQ(asked, 3);
}

TEST(JsonLine, IsInAsciiWhateverOthersHaveWritten) {
    const std::string turns_text = "\u202e\u009b";
    leader_info leader;
    leader.id = leader.data = turns_text;
    group_member member;
    member.name = member.data = turns_text;
    run_options options;
    options.path = '/' + turns_text;
    options.json = true;
    held_resource held;
    held.nodes = {options.path + "/lock-1"};
    for (const std::string& line : {leader_json_line(options.path, leader),
                                    line_of_member(member, "", true),
                                    lines_of(held, options)}) {
        EXPECT_THAT(line, HasSubstr("\\u202e\\u009b"));
        EXPECT_THAT(line, Each(::testing::Ge('\n')));
    }
}

INSTANTIATE_TEST_SUITE_P(ToAPipe, Output, ::testing::Values(0, O_NONBLOCK));

}  // namespace

}  // namespace latchkey::test
