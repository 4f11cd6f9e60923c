#include "telemetry/refusal_notes.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

constexpr auto get = request::kind::get;
constexpr auto no_word = static_cast<result_code>(-77);

class RefusalNotes : public ::testing::Test {
protected:
    static refusal_notes::time_point at(int second) {
        return refusal_notes::time_point(std::chrono::seconds(second));
    }

    [[nodiscard]] result_code latest(const char* path, int since, bool ordinary = true) const {
        const auto* const note = notes_.latest(path, at(since), ordinary);
        return note == nullptr ? result_code::ok : note->code;
    }

    refusal_notes notes_;
};

TEST_F(RefusalNotes, AreThoseOfTheZnodeAndBelowItSinceATime) {
    notes_.add("/a", get, result_code::no_node, at(1));
    notes_.add("/a/b", get, result_code::bad_version, at(2));
    notes_.add("/ab", get, result_code::not_empty, at(3));
    EXPECT_EQ(latest("/a", 0), result_code::bad_version);
    EXPECT_EQ(latest("/a", 2), result_code::bad_version);
    EXPECT_EQ(latest("/a", 3), result_code::ok);
    EXPECT_EQ(latest("/", 0), result_code::not_empty);
    EXPECT_EQ(latest("/a/b/c", 0), result_code::ok);
}

TEST_F(RefusalNotes, LeaveOrdinaryAnswersOutWhereTheyExplainNothing) {
    notes_.add("/a", get, result_code::throttled, at(1));
    notes_.add("/a", get, result_code::no_node, at(2));
    EXPECT_EQ(latest("/a", 0), result_code::no_node);
    EXPECT_EQ(latest("/a", 0, false), result_code::throttled);
}

TEST_F(RefusalNotes, HaveTheLatestUnexpectedCodeForEveryPathHoweverManyFollow) {
    EXPECT_TRUE(notes_.add("/a", get, no_word, at(1)));
    EXPECT_FALSE(notes_.add("/a", get, no_word, at(1)));
    for (int i = 0; i < 1000; ++i) {
        EXPECT_FALSE(notes_.add("/c", get, result_code::no_node, at(2)));
    }
    EXPECT_EQ(latest("/b", 1), no_word);
    EXPECT_EQ(latest("/b", 2), result_code::ok);
}

TEST_F(RefusalNotes, HaveTheLatestMalformedAnswerSinceATime) {
    EXPECT_EQ(notes_.malformed(at(0)), "");
    notes_.add_malformed("a:1: malformed answer", at(1));
    notes_.add_malformed("b:1: malformed answer", at(2));
    EXPECT_EQ(notes_.malformed(at(2)), "b:1: malformed answer");
    EXPECT_EQ(notes_.malformed(at(3)), "");
}

TEST_F(RefusalNotes, StandUntilTheSameIsAnswered) {
    const auto standing = [&](int since) { return notes_.standing("/a", at(since)) != nullptr; };
    notes_.add("/a/b", get, result_code::no_node, at(1));
    EXPECT_FALSE(standing(0)) << "it says what there is";
    notes_.add("/a/b", get, no_word, at(2));
    EXPECT_TRUE(standing(2));
    EXPECT_FALSE(standing(3));
    notes_.answered("/a/b", request::kind::children);
    notes_.answered("/a", get);
    EXPECT_TRUE(standing(0));
    notes_.answered("/a/b", get);
    EXPECT_FALSE(standing(0));
    EXPECT_NE(notes_.latest("/a", at(0), true), nullptr);
}

TEST_F(RefusalNotes, ReportABoundedNumberOfCodes) {
    int reported = 0;
    for (int code = -1000; code > -3000; --code) {
        reported += notes_.add("/a", get, static_cast<result_code>(code), at(1)) ? 1 : 0;
    }
    EXPECT_EQ(reported, 64);
}

}  // namespace
}  // namespace latchkey::test
