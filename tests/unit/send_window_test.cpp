#include "loop/send_window.hpp"

#include <cstddef>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using ::testing::ElementsAre;

class SendWindow : public ::testing::Test {
protected:
    /// A task that sends so many requests.
    void enter(int name, std::size_t requests) {
        window.enter([this, name, requests] {
            EXPECT_TRUE(window.is_entered());
            ran.push_back(name);
            for (std::size_t i = 0; i < requests; ++i) {
                window.sent();
            }
        });
        EXPECT_FALSE(window.is_entered());
    }

    send_window window;
    std::vector<int> ran;
};

TEST_F(SendWindow, LetsTasksRunAtOnce) {
    enter(1, 2);
    enter(2, 2);
    EXPECT_THAT(ran, ElementsAre(1, 2));
}

TEST_F(SendWindow, KeepsWhatIsTooMuchUntilEnoughIsAnsweredFirstComeFirstServed) {
    enter(1, send_window::width);
    enter(2, 2);
    enter(3, 0);
    enter(4, 0);
    EXPECT_THAT(ran, ElementsAre(1));
    window.answered();
    EXPECT_THAT(ran, ElementsAre(1, 2)) << "one more than there was room for";
    window.answered();
    EXPECT_THAT(ran, ElementsAre(1, 2));
    window.answered();
    EXPECT_THAT(ran, ElementsAre(1, 2, 3, 4));
    enter(5, 0);
    EXPECT_THAT(ran, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(SendWindow, LetsNobodyPassThoseWhoWait) {
    enter(1, send_window::width);
    window.enter([this] {
        ran.push_back(2);
        window.enter([this] { ran.push_back(4); });
    });
    enter(3, 0);
    window.answered();
    EXPECT_THAT(ran, ElementsAre(1, 2, 4, 3)) << "but what was let in already";
}

TEST_F(SendWindow, LetsInBehindATaskWhatWasAnsweredWhileItRan) {
    window.enter([this] {
        for (std::size_t i = 0; i < send_window::width; ++i) {
            window.sent();
        }
        window.begin([this] { ran.push_back(1); });
        window.answered();
        EXPECT_THAT(ran, ElementsAre()) << "not inside of a task";
    });
    EXPECT_THAT(ran, ElementsAre(1)) << "no other answer has to come";
}

TEST_F(SendWindow, GoesOnWithWhatHasBegunBeforeItBeginsMore) {
    enter(1, send_window::width);
    window.begin([this] { ran.push_back(2); });
    enter(3, 1);
    enter(4, 0);
    EXPECT_THAT(ran, ElementsAre(1));
    window.answered();
    EXPECT_THAT(ran, ElementsAre(1, 3));
    window.begin([this] { ran.push_back(5); });
    window.answered();
    EXPECT_THAT(ran, ElementsAre(1, 3, 4, 2, 5));
}

}  // namespace
}  // namespace latchkey
