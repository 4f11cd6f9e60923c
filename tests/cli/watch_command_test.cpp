#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "queued.hpp"
#include "seeing_fixture.hpp"

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace latchkey::test {
namespace {

using ::latchkey::testing::ensemble;

/// The events of the lines, with the state of the participant.
words events_of(const running_program& watch) {
    words all;
    for (const auto& o : objects_of(watch)) {
        const auto& state = o.contains("participant") ? o["participant"]["state"] : o["kind"];
        all.push_back(o["event"].get<std::string>() + ' ' + state.get<std::string>());
    }
    return all;
}

/// Waits for so many events of this name.
bool has_events(const running_program& p, const std::string& name, std::ptrdiff_t count) {
    return eventually([&] {
        const words lines = lines_of(p->out());
        return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
                   return line.find("\"event\":\"" + name + '"') != std::string::npos;
               }) >= count;
    });
}

class WatchCommand : public seeing_fixture {};

TEST_F(WatchCommand, PrintsALineForEachChangeUntilASignal) {
    mutex first(one_, path_);
    mutex second(two_, path_);
    hold h = first.acquire();
    const auto watch = run("watch --json PATH");
    ASSERT_TRUE(has_events(watch, "present", 1)) << watch->err();
    auto waiting = queued(second);
    ASSERT_TRUE(has_events(watch, "joined", 1));
    h.release();
    hold other = waiting.get();
    ASSERT_TRUE(has_events(watch, "granted", 1));
    other.release();
    ASSERT_TRUE(has_events(watch, "released", 2));
    watch->send(SIGTERM);
    auto events = events_of(watch);
    ASSERT_GE(events.size(), 6U);
    events.resize(6);
    EXPECT_THAT(events,
                ElementsAre("kind mutex",
                            "present holds",
                            "joined waits",
                            "released holds",
                            "granted holds",
                            "released holds"));
}

TEST_F(WatchCommand, SeesAPathThatIsCreatedLater) {
    const auto watch = run("watch PATH/deep/lock");
    ASSERT_TRUE(eventually_prints(watch, "kind     none")) << watch->err();
    mutex m(one_, path_ + "/deep/lock");
    const hold h = m.acquire();
    ASSERT_TRUE(eventually_prints(watch, "granted"));
    EXPECT_EQ(status_after(SIGINT, watch), 0);
}

TEST_F(WatchCommand, DrawsInPlaceOnATerminal) {
    mutex m(one_, path_);
    const hold h = m.acquire();
    const auto watch = run("watch PATH", {.environment = {{"NO_COLOR", "1"}}, .terminal = true});
    EXPECT_TRUE(eventually_prints(watch, "\x1b[H" + path_ + ": mutex, 1 holding, 0 waiting"))
        << watch->out();
    EXPECT_EQ(status_after(SIGTERM, watch), 0);
}

/// Only the in-process ensemble counts requests.
TEST(WatchCommandRequests, AreAFixedNumberForEachChange) {
    ensemble servers({.servers = 1});
    const std::string listening = servers.serve();
    const client zk = servers.connect();
    mutex m(zk, "/lock");
    hold h = m.acquire();
    const auto watch =
        std::make_unique<program>(words_of("watch --json -z " + listening + " /lock"));
    ASSERT_TRUE(has_events(watch, "present", 1)) << watch->err();
    h.release();
    ASSERT_TRUE(has_events(watch, "released", 1)) << watch->out();
    const auto before = servers.count().children;
    for (int i = 1; i <= 5; ++i) {
        hold next = m.acquire();
        ASSERT_TRUE(has_events(watch, "granted", i)) << watch->out();
        next.release();
        ASSERT_TRUE(has_events(watch, "released", i + 1)) << watch->out();
    }
    const auto lists = servers.count().children - before;
    EXPECT_LE(lists, 10U * (5 + 1 + 1)) << "5 with a watch, 1 of the look, and 1 of the mutex";
    EXPECT_EQ(status_after(SIGTERM, watch), 0);
}

// A command that only looks has nothing to look at when its client has ended.
TEST(EndedClient, EndsTheCommandsThatLook) {
    ensemble servers({.servers = 1});
    const std::string at = servers.serve();
    for (const std::string& command :
         {"watch -z " + at + " /jobs", "serve --listen 127.0.0.1:0 -z " + at}) {
        constexpr int authentication_required = -124;
        servers.refuse_next(ensemble::request_kind::any, authentication_required, 0, 1'000);
        const auto p = std::make_unique<program>(words_of(command));
        EXPECT_THAT(err_of(p, 77), HasSubstr("clients that have authenticated")) << command;
    }
}

}  // namespace
}  // namespace latchkey::test
