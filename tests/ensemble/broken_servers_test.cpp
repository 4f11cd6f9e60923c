// A hold outlives the loss of any one server, whatever becomes of it; and nobody else is granted
// the lock meanwhile.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

struct fault {
    const char* name;
    void (real_ensemble::*strike)(int);

    friend void PrintTo(const fault& f, std::ostream* out) { *out << f.name; }
};

constexpr fault killed{"Killed", &real_ensemble::kill};
constexpr fault paused{"Paused", &real_ensemble::pause};
constexpr fault disk_full{"WithAFullDisk", &real_ensemble::fill_disk};

class OneServer : public ::testing::TestWithParam<fault> {
protected:
    void strike(int server) { (servers_.*GetParam().strike)(server); }

    [[nodiscard]] std::string followers() const {
        const int leader = servers_.leader();
        std::string list;
        for (int server = 1; server <= servers_.size(); ++server) {
            if (server != leader) {
                list += (list.empty() ? "" : ",") + servers_.address(server);
            }
        }
        return list;
    }

    /// From the fault until the holder's next write is answered; the hold is valid all the time.
    void expect_writes_again(contest& c, const std::string& text) {
        const auto start = boottime_clock::now();
        EXPECT_TRUE(c.writes(c.first(), text)) << to_string(c.first().why_lost());
        report(std::string("silence_") + text, boottime_clock::now() - start);
    }

    real_ensemble& servers_ = real_ensemble::breakable();
};

TEST_P(OneServer, OfTheHolderCostsItAReconnectAndNotTheHold) {
    contest c({.holders_servers = followers(),
               .other_servers = servers_.connect_string(),
               .session_timeout = 30s});
    const int its = servers_.server_of(c.first().session());
    ASSERT_NE(its, 0);
    strike(its);
    expect_writes_again(c, "elsewhere");
    // A server with a full disk may have answered before it noticed.
    EXPECT_TRUE(eventually([&] {
        const int now = servers_.server_of(c.first().session());
        return now != 0 && now != its;
    }));
    servers_.mend();
    c.expect_kept();
}

// Followers without a leader hang up, which is noticed at once. Elections can take long.
TEST_P(OneServer, ThatLeadsCostsAnElectionAndNotTheHold) {
    contest c({.holders_servers = followers(),
               .other_servers = servers_.connect_string(),
               .session_timeout = 30s});
    strike(servers_.leader());
    expect_writes_again(c, "in_the_next_epoch");
    servers_.mend();
    c.expect_kept();
}

class EachServer : public OneServer {};

// What is noticed by silence takes up to 5/12 of the session timeout, and an election comes on
// top: the rest of the validity has to suffice for that on a slow machine, too.
TEST_P(EachServer, InTurnLeavesTheHold) {
    contest c({.holders_servers = servers_.connect_string(),
               .other_servers = servers_.connect_string(),
               .session_timeout = 30s});
    for (int server = 1; server <= servers_.size(); ++server) {
        strike(server);
        expect_writes_again(c, "without_" + std::to_string(server));
        EXPECT_FALSE(c.doubled());
        servers_.mend();
    }
    c.expect_kept();
}

INSTANTIATE_TEST_SUITE_P(, EachServer, ::testing::Values(killed, paused), [](const auto& p) {
    return p.param.name;
});
INSTANTIATE_TEST_SUITE_P(,
                         OneServer,
                         ::testing::Values(killed, paused, disk_full),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace latchkey::test
