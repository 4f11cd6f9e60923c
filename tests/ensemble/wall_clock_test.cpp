// Jumps of the wall clock, of the holder's machine and of a server's: sessions and holds are
// counted in elapsed time.
#include "wall_clock.hpp"

#include "contest.hpp"
#include "eventually.hpp"
#include "in_time.hpp"
#include "real_ensemble.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

constexpr auto timeout = 6s;

/// Waits for the holder to have been heard, and believed, for as long as a session lives.
void expect_goes_on(contest& c) {
    const auto start = boottime_clock::now();
    EXPECT_TRUE(eventually(
        [&] { return !c.first().valid() || c.first().valid_until() > start + timeout; }));
    EXPECT_TRUE(c.first().valid()) << to_string(c.first().why_lost());
    EXPECT_FALSE(c.second().has());
}

TEST(WallClock, JumpsOfTheClientsMachineChangeNothing) {
    const std::string servers = real_ensemble::shared().connect_string();
    contest c(servers, timeout);
    wall_clock clock;
    const auto before = system_clock::now();
    for (const auto jump : {24h, -24h}) {
        clock.set(jump);
        EXPECT_GT(std::chrono::abs(system_clock::now() - before), 23h) << "no jump";
        expect_goes_on(c);
        // What waits does so for as long as it should.
        client other = client::connect(servers, {.session_timeout = timeout});
        const auto asked = boottime_clock::now();
        EXPECT_FALSE(in_time(
            300ms, [&](auto limit) { return mutex(other, c.path()).try_acquire_for(limit); }));
        EXPECT_GE(boottime_clock::now() - asked, 300ms);
        EXPECT_LT(boottime_clock::now() - asked, 10min);
    }
    c.expect_kept();
}

/// When the connection of a session was established, by the server's wall clock.
system_clock::time_point established(const real_ensemble& servers, std::int64_t session) {
    std::ostringstream id;
    id << "sid=0x" << std::hex << session << ',';
    const std::string all = servers.four_letter_word(1, "cons");
    const auto at = all.find("est=", all.find(id.str()));
    return system_clock::time_point(
        std::chrono::milliseconds(at == std::string::npos ? 0 : std::stoll(all.substr(at + 4))));
}

TEST(WallClock, JumpsOfAServersMachineChangeNothing) {
    const std::string file = std::filesystem::temp_directory_path() /
                             ("latchkey-wall-clock-" + std::to_string(::getpid()));
    {
        ::setenv("LATCHKEY_WALL_CLOCK", file.c_str(), 1);
        ::setenv("LD_PRELOAD", LATCHKEY_WALL_CLOCK_MODULE, 1);
        const real_ensemble server({.servers = 1});
        ::unsetenv("LD_PRELOAD");
        ::unsetenv("LATCHKEY_WALL_CLOCK");
        const std::string address = server.connect_string();
        contest c(address, timeout);
        const auto before = system_clock::now();
        for (const auto jump : {24h, -24h}) {
            wall_clock clock(file);
            clock.set(jump);
            client fresh = client::connect(address);
            EXPECT_TRUE(fresh.wait_connected(30s));
            EXPECT_GT(std::chrono::abs(established(server, fresh.session_id()) - before), 23h)
                << "no jump";
            expect_goes_on(c);
        }
        c.expect_kept();
    }
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace latchkey::test
