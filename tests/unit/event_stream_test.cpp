#include "telemetry/event_stream.hpp"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

class EventStream : public ::testing::Test {
protected:
    void run_all() {
        while (!thread_.empty()) {
            auto next = std::move(thread_.front());
            thread_.pop_front();
            next();
        }
    }

    std::deque<move_only_function<void()>> thread_;
    std::vector<std::string> told_;
    std::shared_ptr<event_stream> stream_ = std::make_shared<event_stream>(
        [this](const event& e) {
            told_.push_back(std::string(e.client) + ' ' + to_string(e.what) + ' ' +
                            std::string(e.path) + ' ' + std::string(e.node));
        },
        "worker",
        [this](move_only_function<void()> f) { thread_.push_back(std::move(f)); });
};

TEST_F(EventStream, TellsInOrderAndKeepsTheTexts) {
    {
        std::string path = "/a";
        stream_->notify({.what = event_kind::queued}, path, "/a/1");
        path = "/b";
        stream_->notify({.what = event_kind::lost}, path, "/b/2");
    }
    EXPECT_TRUE(told_.empty()) << "never inside of the call";
    run_all();
    EXPECT_THAT(told_, ElementsAre("worker queued /a /a/1", "worker lost /b /b/2"));
}

TEST_F(EventStream, DropsAndCountsWhatComesWhileItIsFull) {
    for (std::size_t i = 0; i < event_stream::capacity + 3; ++i) {
        stream_->notify({.what = event_kind::request});
    }
    EXPECT_EQ(stream_->dropped(), 3U);
    EXPECT_EQ(thread_.size(), event_stream::capacity);
    run_all();
    EXPECT_EQ(told_.size(), event_stream::capacity);
    stream_->notify({.what = event_kind::request});
    run_all();
    EXPECT_EQ(told_.size(), event_stream::capacity + 1);
    EXPECT_EQ(stream_->dropped(), 3U);
}

TEST_F(EventStream, EndsBehindWhatWasTold) {
    bool done = false;
    stream_->notify({.what = event_kind::state});
    stream_->end([&] {
        done = true;
        told_.emplace_back("end");
    });
    stream_->notify({.what = event_kind::lost});
    EXPECT_FALSE(done);
    run_all();
    EXPECT_THAT(told_, ElementsAre("worker state  ", "end"));
}

TEST_F(EventStream, LivesUntilWhatWasToldHasBeenHeard) {
    stream_->notify({.what = event_kind::state});
    stream_.reset();
    run_all();
    EXPECT_EQ(told_.size(), 1U);
}

}  // namespace
}  // namespace latchkey::test
