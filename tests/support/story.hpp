#pragma once

#include "words.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

/// One step of a story: a verb and what it is about.
using story_step = std::vector<std::string>;

/// What happens in a test on a stepped clock, in one line: "connected, until 4, answer 0 ok". The
/// fixture says what the verbs mean.
[[nodiscard]] inline std::vector<story_step> steps_of(const std::string& story) {
    std::vector<story_step> steps;
    for (const std::string& step : parts_of(story, ',')) {
        steps.push_back(words_of(step));
    }
    return steps;
}

/// "41.75": as seconds.
[[nodiscard]] inline std::chrono::nanoseconds seconds_in(const std::string& text) {
    return std::chrono::nanoseconds(std::llround(std::stod(text) * 1e9));
}

/// The other way round, to the millisecond.
[[nodiscard]] inline std::string seconds_text(std::chrono::nanoseconds t) {
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", std::chrono::duration<double>(t).count());
    return text;
}

/// What happened, in order: "4 beat /a, 11 give up".
class trace {
public:
    void add(const std::string& what) { text_ += (text_.empty() ? "" : ", ") + what; }

    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// What the verbs of a story do.
using story_verbs = std::map<std::string, std::function<void(const story_step&)>>;

inline void play(const std::string& story, const story_verbs& verbs) {
    for (const story_step& step : steps_of(story)) {
        const auto known = verbs.find(step.front());
        ASSERT_NE(known, verbs.end()) << "no verb: " << step.front();
        known->second(step);
    }
}

/// A story and what comes of it.
struct told_story {
    const char* name;
    const char* story;
    const char* comes_of_it;
};

}  // namespace latchkey::test
