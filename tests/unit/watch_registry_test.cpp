#include "session/watch_registry.hpp"

#include "make_watcher.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using kind = watch_registry::kind;

std::shared_ptr<session::watcher> new_watcher() {
    return test::make_watcher([](watch_event) {});
}

class WatchRegistry : public ::testing::Test {
protected:
    void add(const std::string& path, kind k, const std::shared_ptr<session::watcher>& w) {
        r.add(watch_registry::key_of(path), k, w);
    }

    [[nodiscard]] std::size_t taken(watch_event e, const std::string& path = "/a") {
        return r.take(e, path).size();
    }

    watch_registry r;
    const std::shared_ptr<session::watcher> one = new_watcher();
    const std::shared_ptr<session::watcher> other = new_watcher();
};

TEST_F(WatchRegistry, GivesEachEventToItsKind) {
    add("/a", kind::data, one);
    add("/a", kind::children, other);
    EXPECT_EQ(taken(watch_event::changed), 1U);
    EXPECT_EQ(taken(watch_event::changed), 0U) << "one shot";
    const auto told = r.take(watch_event::children_changed, "/a");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].lock(), other);
    EXPECT_EQ(r.size(), 0U);
}

TEST_F(WatchRegistry, EndsBothKindsWithADeletion) {
    add("/a", kind::data, one);
    add("/a", kind::children, other);
    add("/b", kind::data, one);
    EXPECT_EQ(taken(watch_event::deleted), 2U);
    EXPECT_EQ(r.size(), 1U);
}

TEST_F(WatchRegistry, IsSharedByAnyNumberOfWatchers) {
    add("/a", kind::data, one);
    add("/a", kind::data, other);
    EXPECT_EQ(taken(watch_event::deleted), 2U);
}

TEST_F(WatchRegistry, TellsAWatcherOnceThatWasAddedTwice) {
    add("/a", kind::data, one);
    add("/a", kind::data, new_watcher());
    add("/a", kind::data, one);
    add("/a", kind::children, one);
    EXPECT_EQ(taken(watch_event::changed), 1U) << "the other one is gone";
    EXPECT_EQ(taken(watch_event::children_changed), 1U);
}

TEST_F(WatchRegistry, DoesNotGrowWithWatchersThatAreGone) {
    for (int i = 0; i < 10'000; ++i) {
        add("/" + std::to_string(i), kind::data, new_watcher());
        add("/same", kind::data, new_watcher());
    }
    EXPECT_LT(r.size(), 200U);
    EXPECT_LE(taken(watch_event::deleted, "/same"), 1U);
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

TEST_F(WatchRegistry, GivesNoWatcherTheEventOfAnotherPathOfTheSameKey) {
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
