#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "queued.hpp"
#include "seeing_fixture.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using testing::ensemble;
using ::testing::HasSubstr;

/// The events of the lines, with the state of the participant.
std::vector<std::string> events_in(const std::string& json_lines) {
    std::vector<std::string> all;
    std::istringstream lines(json_lines);
    for (std::string line; std::getline(lines, line);) {
        const auto o = nlohmann::json::parse(line);
        all.push_back(
            o["event"].get<std::string>() + ' ' +
            (o.contains("participant") ? o["participant"]["state"] : o["kind"]).get<std::string>());
    }
    return all;
}

/// Waits for so many lines.
bool has_lines(program& p, std::ptrdiff_t count) {
    return eventually([&] {
        const std::string out = p.out();
        return std::count(out.begin(), out.end(), '\n') >= count;
    });
}

/// Waits for so many events of this name.
bool has_events(program& p, const std::string& name, int count) {
    return eventually([&] {
        const std::string out = p.out();
        const std::string event = "\"event\":\"" + name + '"';
        int found = 0;
        for (auto at = out.find(event); at != std::string::npos; at = out.find(event, at + 1)) {
            ++found;
        }
        return found >= count;
    });
}

class WatchCommand : public seeing_fixture {};

TEST_F(WatchCommand, PrintsALineForEachChangeUntilASignal) {
    mutex first(one_, path_);
    mutex second(two_, path_);
    hold h = first.acquire();
    const auto watch = run("watch", {"--json", path_});
    ASSERT_TRUE(has_lines(*watch, 2)) << watch->err();
    auto waiting = queued(second);
    ASSERT_TRUE(has_lines(*watch, 3));
    h.release();
    hold other = waiting.get();
    ASSERT_TRUE(has_lines(*watch, 5));
    other.release();
    ASSERT_TRUE(has_lines(*watch, 6));
    watch->send(SIGTERM);
    EXPECT_EQ(watch->wait(), 0);
    const auto events = events_in(watch->out());
    ASSERT_GE(events.size(), 6U);
    EXPECT_THAT(std::vector(events.begin(), events.begin() + 6),
                ElementsAre("kind mutex",
                            "present holds",
                            "joined waits",
                            "released holds",
                            "granted holds",
                            "released holds"));
}

TEST_F(WatchCommand, SeesAPathThatIsCreatedLater) {
    const auto watch = run("watch", {path_ + "/deep/lock"});
    ASSERT_TRUE(has_lines(*watch, 1)) << watch->err();
    EXPECT_THAT(watch->out(), HasSubstr("kind     none"));
    mutex m(one_, path_ + "/deep/lock");
    const hold h = m.acquire();
    ASSERT_TRUE(eventually([&] { return watch->out().find("granted") != std::string::npos; }));
    watch->send(SIGINT);
    EXPECT_EQ(watch->wait(), 0);
}

TEST_F(WatchCommand, ReportsWhyItCannotLook) {
    EXPECT_EQ(run("watch", {})->wait(), 64);
    EXPECT_EQ(run("watch", {"/a", "/b"})->wait(), 64);
    put(path_, {}, create_mode::persistent, {{"digest", "nobody:0000000000000000000000000000"}});
    const auto refused = run("watch", {path_});
    EXPECT_EQ(refused->wait(), 77);
    EXPECT_THAT(refused->err(), HasSubstr(path_));
}

TEST_F(WatchCommand, DrawsInPlaceOnATerminal) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    ASSERT_GE(terminal, 0);
    ASSERT_EQ(::grantpt(terminal), 0);
    ASSERT_EQ(::unlockpt(terminal), 0);
    const int shown = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
    ASSERT_GE(shown, 0);
    mutex m(one_, path_);
    const hold h = m.acquire();
    program_surroundings around;
    around.standard_output = shown;
    around.environment["NO_COLOR"] = "1";
    const auto watch = run("watch", {path_}, around);
    std::string screen;
    const bool drawn = eventually([&] {
        std::array<char, 4096> part{};
        const auto size = ::read(terminal, part.data(), part.size());
        screen.append(part.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
        return screen.find("holds") != std::string::npos;
    });
    EXPECT_TRUE(drawn) << watch->err();
    EXPECT_THAT(screen, HasSubstr("\x1b[H" + path_ + ": mutex, 1 holding, 0 waiting"));
    watch->send(SIGTERM);
    EXPECT_EQ(watch->wait(), 0);
    ::close(shown);
    ::close(terminal);
}

/// Only the in-process ensemble counts requests.
TEST(WatchCommandRequests, AreAFixedNumberForEachChange) {
    ensemble servers({.servers = 1});
    const std::string listening = servers.serve();
    const client zk = servers.connect();
    mutex m(zk, "/lock");
    hold h = m.acquire();
    program watch({"watch", "-z", listening, "--json", "/lock"});
    ASSERT_TRUE(has_events(watch, "present", 1)) << watch.err();
    h.release();
    ASSERT_TRUE(has_events(watch, "released", 1)) << watch.out();
    const auto before = servers.count().children;
    for (int i = 1; i <= 5; ++i) {
        hold next = m.acquire();
        ASSERT_TRUE(has_events(watch, "granted", i)) << watch.out();
        next.release();
        ASSERT_TRUE(has_events(watch, "released", i + 1)) << watch.out();
    }
    const auto lists = servers.count().children - before;
    EXPECT_LE(lists, 10U * (5 + 1 + 1)) << "5 with a watch, 1 of the look, and 1 of the mutex";
    watch.send(SIGTERM);
    EXPECT_EQ(watch.wait(), 0);
}

// A command that only looks has nothing to look at when its client has ended.
TEST(EndedClient, EndsTheCommandsThatLook) {
    ensemble servers({.servers = 1});
    const std::string at = servers.serve();
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"watch", "-z", at, "/jobs"},
          {"serve", "-z", at, "--listen", "127.0.0.1:0"}}) {
        constexpr int authentication_required = -124;
        servers.refuse_next(ensemble::request_kind::any, authentication_required, 0, 1'000);
        program p(command);
        EXPECT_EQ(p.wait(), 77) << command.front();
        EXPECT_THAT(p.err(), ::testing::HasSubstr("clients that have authenticated"));
    }
}

}  // namespace
}  // namespace latchkey::test
