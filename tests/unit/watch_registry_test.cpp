#include "session/watch_registry.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using kind = watch_registry::kind;

std::shared_ptr<session::watcher> new_watcher() {
    return make_watcher([](watch_event) {});
}

TEST(WatchRegistry, GivesEachEventToItsKind) {
    watch_registry r;
    const auto data = new_watcher();
    const auto children = new_watcher();
    r.add(watch_registry::key_of("/a"), kind::data, data);
    r.add(watch_registry::key_of("/a"), kind::children, children);
    ASSERT_EQ(r.take(watch_event::changed, "/a").size(), 1U);
    ASSERT_EQ(r.take(watch_event::changed, "/a").size(), 0U) << "one shot";
    const auto told = r.take(watch_event::children_changed, "/a");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].lock(), children);
    EXPECT_EQ(r.size(), 0U);
}

TEST(WatchRegistry, EndsBothKindsWithADeletion) {
    watch_registry r;
    const auto data = new_watcher();
    const auto children = new_watcher();
    r.add(watch_registry::key_of("/a"), kind::data, data);
    r.add(watch_registry::key_of("/a"), kind::children, children);
    r.add(watch_registry::key_of("/b"), kind::data, data);
    EXPECT_EQ(r.take(watch_event::deleted, "/a").size(), 2U);
    EXPECT_EQ(r.size(), 1U);
}

TEST(WatchRegistry, IsSharedByAnyNumberOfWatchers) {
    watch_registry r;
    const auto one = new_watcher();
    const auto two = new_watcher();
    r.add(watch_registry::key_of("/a"), kind::data, one);
    r.add(watch_registry::key_of("/a"), kind::data, two);
    EXPECT_EQ(r.take(watch_event::deleted, "/a").size(), 2U);
}

TEST(WatchRegistry, TellsAWatcherOnceThatWasAddedTwice) {
    watch_registry r;
    const auto one = new_watcher();
    r.add(watch_registry::key_of("/a"), kind::data, one);
    r.add(watch_registry::key_of("/a"), kind::data, new_watcher());
    r.add(watch_registry::key_of("/a"), kind::data, one);
    r.add(watch_registry::key_of("/a"), kind::children, one);
    EXPECT_EQ(r.take(watch_event::changed, "/a").size(), 1U) << "the other one is gone";
    EXPECT_EQ(r.take(watch_event::children_changed, "/a").size(), 1U);
}

TEST(WatchRegistry, DoesNotGrowWithWatchersThatAreGone) {
    watch_registry r;
    for (int i = 0; i < 10'000; ++i) {
        r.add(watch_registry::key_of("/" + std::to_string(i)), kind::data, new_watcher());
        r.add(watch_registry::key_of("/same"), kind::data, new_watcher());
    }
    EXPECT_LT(r.size(), 200U);
    EXPECT_LE(r.take(watch_event::deleted, "/same").size(), 1U);
}

class watcher_of final : public session::watcher {
public:
    explicit watcher_of(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] bool is_on(std::string_view path) const noexcept override {
        return path == path_;
    }

    void on_event(watch_event) override {}

private:
    std::string path_;
};

TEST(WatchRegistry, GivesNoWatcherTheEventOfAnotherPathOfTheSameKey) {
    watch_registry r;
    const auto a = std::make_shared<watcher_of>("/a");
    const auto b = std::make_shared<watcher_of>("/b");
    const auto key = watch_registry::key_of("/a");  // as if it were the key of both
    r.add(key, kind::data, a);
    r.add(key, kind::data, b);
    const auto told = r.take(watch_event::deleted, "/a");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].lock(), a);
    EXPECT_EQ(r.size(), 1U) << "the other watch is still there";
}

}  // namespace
}  // namespace latchkey
