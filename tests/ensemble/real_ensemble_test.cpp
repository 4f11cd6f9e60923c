// The ensemble that other tests lean on does what its header says.
#include "real_ensemble.hpp"

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "too_slow.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

/// What a server says it is; empty if it serves nobody. On a slow machine it may lose the others
/// for a moment.
bool becomes(const real_ensemble& ensemble, int server, std::string_view mode) {
    return eventually([&] { return ensemble.mode(server) == mode; });
}

/// A server has noticed what was done to it at the latest when somebody has written.
bool ends_serving(const real_ensemble& ensemble, int server) {
    client writing = client::connect(ensemble.connect_string());
    return eventually([&] {
        mutex(writing, real_ensemble::fresh_path()).acquire().release();
        return ensemble.mode(server).empty();
    });
}

struct fault {
    const char* name;
    const char* whose;
    void (real_ensemble::*strike)(int);
    bool unaware = false;  ///< it serves until it notices

    friend void PrintTo(const fault& f, std::ostream* to) { *to << f.name; }
};

constexpr std::array faults{fault{"LeaderKilled", "leader", &real_ensemble::kill},
                            fault{"FollowerKilled", "follower", &real_ensemble::kill},
                            fault{"LeaderPaused", "leader", &real_ensemble::pause},
                            fault{"LeaderIsolated", "leader", &real_ensemble::isolate, true},
                            fault{"FollowerIsolated", "follower", &real_ensemble::isolate, true},
                            fault{"FullDisk", "follower", &real_ensemble::fill_disk}};

class BrokenServer : public testing::TestWithParam<fault> {};

TEST_P(BrokenServer, ServesNobodyAndFollowsWhenItIsMended) {
    real_ensemble ensemble({.can_isolate = true});
    const std::string whose = GetParam().whose;
    const int struck = whose == "leader" ? ensemble.leader() : ensemble.follower();
    // syncLimit, in ticks.
    const time_window unaware(std::chrono::seconds(2));
    (ensemble.*GetParam().strike)(struck);
    if (GetParam().unaware) {
        const std::string mode = ensemble.mode(struck);
        if (unaware.is_over()) {
            GTEST_SKIP() << too_slow << "the server had time to notice before it was asked";
        }
        EXPECT_EQ(mode, whose);
    }
    EXPECT_TRUE(ends_serving(ensemble, struck));
    EXPECT_NE(ensemble.leader(), struck);
    ensemble.mend();
    EXPECT_TRUE(becomes(ensemble, struck, "follower"));
    EXPECT_NE(ensemble.leader(), struck);
}

INSTANTIATE_TEST_SUITE_P(, BrokenServer, testing::ValuesIn(faults), [](const auto& p) {
    return p.param.name;
});

TEST(ServerLinks, CutOffAServerThatKnowsAndAFollowerFromItsLeaderOneWayOrBoth) {
    real_ensemble ensemble({.has_links = true});
    const auto expect_cut_off = [&](int server) {
        EXPECT_TRUE(becomes(ensemble, server, ""));
        EXPECT_NE(ensemble.leader(), server);
        ensemble.links().heal(server);
        EXPECT_TRUE(becomes(ensemble, server, "follower"));
    };
    const int led = ensemble.leader();
    ensemble.links().isolate(led, server_links::told::the_server);
    expect_cut_off(led);
    const int one = ensemble.follower();
    ensemble.links().separate(ensemble.leader(), one);
    expect_cut_off(one);
    const int other = ensemble.follower();
    ensemble.links().stall(other, ensemble.leader());
    expect_cut_off(other);
}

TEST(RealEnsemble, ConfiguresTickAndSettings) {
    real_ensemble ensemble(
        {.servers = 1, .tick = std::chrono::milliseconds(300), .settings = {"maxClientCnxns=7"}});
    const std::string configuration = ensemble.four_letter_word(1, "conf");
    EXPECT_THAT(configuration, testing::HasSubstr("tickTime=300\n"));
    EXPECT_THAT(configuration, testing::HasSubstr("minSessionTimeout=600\n"));
    EXPECT_THAT(configuration, testing::HasSubstr("maxClientCnxns=7\n"));
}

TEST(RealEnsemble, BreakableOneIsWholeAgainWhenItIsTaken) {
    real_ensemble& ensemble = real_ensemble::breakable();
    ensemble.kill(1);
    ensemble.pause(2);
    real_ensemble::breakable();
    for (int server = 1; server <= ensemble.size(); ++server) {
        EXPECT_TRUE(eventually([&] { return !ensemble.mode(server).empty(); })) << server;
    }
}

using boost::asio::ip::tcp;

/// A listener at a port that scripts/ensemble could choose; two runs on one machine do not begin
/// at the same.
tcp::acceptor listener(boost::asio::io_context& context) {
    tcp::acceptor result(context, tcp::v4());
    result.set_option(tcp::acceptor::reuse_address(true));  // as the servers do
    boost::system::error_code error;
    auto port = static_cast<std::uint16_t>(12000U + std::random_device()() % 9000U);
    const auto address = boost::asio::ip::make_address("127.0.0.1");
    do {
        result.bind({address, ++port}, error);
    } while (error && port < 30000);
    result.listen();
    return result;
}

/// A port where a connection has just ended: the end that closed first lingers in TIME_WAIT.
unsigned short port_of_an_ended_connection() {
    boost::asio::io_context context;
    tcp::acceptor listening = listener(context);
    const auto at = listening.local_endpoint();
    tcp::socket client(context);
    client.connect(at);
    tcp::socket server = listening.accept();
    listening.close();
    server.close();
    char byte = 0;
    boost::system::error_code error;
    client.read_some(boost::asio::buffer(&byte, 1), error);
    EXPECT_EQ(error, boost::asio::error::eof);
    client.close();
    return at.port();
}

TEST(RealEnsemble, StartsAtAPortWhereAConnectionHasJustEnded) {
    bool started = false;
    for (int tries = 1; !started; ++tries) {
        try {
            real_ensemble ensemble({.servers = 1, .port = port_of_an_ended_connection()});
            EXPECT_EQ(ensemble.mode(1), "standalone");
            started = true;
        } catch (const std::runtime_error& e) {
            // Another program may have taken one of them meanwhile.
            if (tries == 5 || std::string(e.what()).find(" taken") == std::string::npos) {
                throw;
            }
        }
    }
}

TEST(RealEnsemble, NamesThePortThatIsTaken) {
    boost::asio::io_context context;
    const tcp::acceptor listening = listener(context);
    const int port = listening.local_endpoint().port();
    EXPECT_THAT([&] { real_ensemble ensemble({.servers = 1, .port = port}); },
                testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr(
                    "port " + std::to_string(port) + " is taken; choose another with --port")));
}

TEST(RealEnsemble, TellsWhatTheScriptSaid) {
    EXPECT_THAT(
        [] { real_ensemble ensemble({.servers = 4}); },
        testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("-n 4: 1, 3 or 5 servers")));
    real_ensemble ensemble({.servers = 1});
    ensemble.kill(1);
    EXPECT_THAT(
        [&] { ensemble.pause(1); },
        testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("server 1 is not running")));
}

}  // namespace
}  // namespace latchkey::test
