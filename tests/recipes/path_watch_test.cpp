#include "inspect/path_watch.hpp"

#include <latchkey/ensemble.hpp>

#include "eventually.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

/// Only the in-process ensemble breaks a connection at a chosen request.
class PathWatch : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(zk_.wait_connected(30s)); }

    void TearDown() override { watch_->end(); }

    void arm() {
        const int before = armed_;
        watch_->arm();
        ASSERT_TRUE(eventually([&] { return armed_ == before + 1; }));
    }

    [[nodiscard]] bool notices(const std::function<void()>& change) {
        arm();
        const int before = changed_;
        change();
        return eventually([&] { return changed_ == before + 1; });
    }

    ensemble servers_{{.servers = 1}};
    client zk_ = servers_.connect({.session_timeout = 40s});
    std::atomic<int> armed_{0};
    std::atomic<int> changed_{0};
    std::shared_ptr<path_watch> watch_ = std::make_shared<path_watch>(
        client_core::of(zk_), "/a/b/lock", [this] { ++armed_; }, [this] { ++changed_; });
};

TEST_F(PathWatch, NoticesEachChangeOfWhatAViewIsMadeOf) {
    for (const char* const path : {"/a", "/a/b", "/a/b/lock"}) {
        EXPECT_TRUE(notices([&] { servers_.create(path); })) << path;
    }
    EXPECT_TRUE(notices([&] { servers_.set("/a/b/lock", "3"); }));
    for (const char* const directory : {"queue", "permits", "locks", "leases"}) {
        const std::string path = std::string("/a/b/lock/") + directory;
        EXPECT_TRUE(notices([&] { servers_.create(path); })) << path;
        EXPECT_TRUE(notices([&] { servers_.create(path + "/child"); })) << path;
        EXPECT_TRUE(notices([&] { servers_.remove(path + "/child"); })) << path;
        EXPECT_TRUE(notices([&] { servers_.remove(path); })) << path;
    }
    EXPECT_TRUE(notices([&] { servers_.remove("/a/b/lock"); }));
}

TEST_F(PathWatch, TakesALostConnectionForAChange) {
    EXPECT_TRUE(notices([&] { servers_.cut(zk_.session_id()); }));
    EXPECT_TRUE(notices([&] { servers_.create("/a"); })) << "it is set again";
}

TEST_F(PathWatch, IsSetAgainWhenTheConnectionBreaksMeanwhile) {
    for (const auto when : {ensemble::when::before, ensemble::when::after}) {
        servers_.fail_next(ensemble::request_kind::children, when, zk_.session_id(), 3);
        arm();
        EXPECT_EQ(servers_.faults_to_come(), 0U);
        const int before = changed_;
        servers_.create(when == ensemble::when::before ? "/a" : "/a/b");
        EXPECT_TRUE(eventually([&] { return changed_ == before + 1; }));
    }
}

TEST_F(PathWatch, SaysNothingAfterItsEnd) {
    arm();
    watch_->end();
    servers_.create("/a");
    servers_.cut(zk_.session_id());
    ASSERT_TRUE(zk_.wait_connected(30s));
    static_cast<void>(zk_.exists("/a"));
    EXPECT_EQ(changed_, 0);
}

}  // namespace
}  // namespace latchkey::test
