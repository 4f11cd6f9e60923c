#include <latchkey/mutex.hpp>

#include "foreign_code_kinds.hpp"
#include "loop/blocking_result.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

/// A client that has nothing to do with the user's code, and what it does meanwhile.
class bystander {
public:
    explicit bystander(ensemble& servers)
        : servers_(servers), c_(servers.connect({.session_timeout = 4s})) {}

    /// Calls of all sorts return, and the hold survives many session timeouts.
    void expect_unharmed() {
        const auto ended = std::make_shared<blocking_result<bool>>();
        std::thread working([this, ended] {
            mutex m(c_, "/bystander/other");
            m.acquire().release();
            static_cast<void>(c_.get("/"));
            servers_.advance(30s);
            static_cast<void>(c_.get("/", read_from::quorum));
            ended->set(true);
        });
        EXPECT_TRUE(ended->get_for(long_enough).has_value()) << "the loop waits";
        EXPECT_TRUE(held_.valid()) << to_string(held_.why_lost());
        workers_.push_back(std::move(working));
    }

    ~bystander() {
        for (std::thread& t : workers_) {
            t.join();
        }
    }

    bystander(const bystander&) = delete;
    bystander& operator=(const bystander&) = delete;

private:
    ensemble& servers_;
    client c_;
    mutex m_{c_, "/bystander"};
    hold held_ = m_.acquire();
    std::vector<std::thread> workers_;
};

/// Code that begins and does not return until the test lets it. It may outlive the test by a
/// moment, on a thread of the library.
struct endless_code {
    blocking_result<bool> begun;
    std::atomic<bool> over{false};

    static std::function<void()> of(const std::shared_ptr<endless_code>& c) {
        return [c] {
            c->begun.set(true);
            static_cast<void>(eventually([&] { return c->over.load(); }, 10 * long_enough));
        };
    }
};

class ForeignCode : public ::testing::TestWithParam<foreign_kind> {
protected:
    ensemble servers_;
};

std::string name_of_kind(const ::testing::TestParamInfo<foreign_kind>& p) {
    return p.param.name;
}

INSTANTIATE_TEST_SUITE_P(Of, ForeignCode, ::testing::ValuesIn(foreign_kinds()), &name_of_kind);

TEST_P(ForeignCode, ThatDoesNotReturnHarmsNoOtherClient) {
    bystander other(servers_);
    const auto code = std::make_shared<endless_code>();
    arrangement a{.servers = servers_,
                  .how = {.session_timeout = 4s, .close_timeout = 100ms},
                  .foreign = endless_code::of(code)};
    const at_end let_it_return{[&] { code->over = true; }};
    GetParam().begin(a);
    ASSERT_TRUE(code->begun.get_for(long_enough));
    other.expect_unharmed();
    // Its own client goes on as well, except on the thread that is occupied.
    static_cast<void>(a.c().get("/"));
    if (GetParam().on_stop_thread) {
        blocking_result<bool> called;
        mutex(a.c(), "/own").async_acquire({}, [&](auto, const hold&) { called.set(true); });
        EXPECT_TRUE(called.get_for(long_enough)) << "a handler waits for a stop callback";
    } else {
        const hold h = mutex(a.c(), "/own").acquire();
        servers_.remove(h.path());
        EXPECT_TRUE(eventually([&] { return h.lost().stop_requested(); }, long_enough))
            << "the news of a loss waits for other code";
    }
}

TEST_P(ForeignCode, MayWaitForAThreadThatUsesTheLibrary) {
    bystander other(servers_);
    const client third = servers_.connect({.session_timeout = 4s});
    const auto returned = std::make_shared<blocking_result<bool>>();
    arrangement a{.servers = servers_,
                  .how = {.session_timeout = 4s, .close_timeout = 100ms},
                  .foreign = [third, returned] {
                      std::thread worker([&] {
                          std::error_code ec;
                          static_cast<void>(third.get("/", ec));
                          static_cast<void>(mutex(third, "/third").acquire({}, ec));
                      });
                      worker.join();
                      returned->set(true);
                  }};
    GetParam().begin(a);
    EXPECT_TRUE(returned->get_for(long_enough)) << "a deadlock";
    other.expect_unharmed();
}

// The clients of a process share one event loop of another kind when they use real connections.
class ForeignCodeOverTcp : public ForeignCode {};

void expire_at_risk(arrangement& a) {
    a.on_stop(a.held().at_risk(1s));
    a.expire();
}

void read_with_a_handler(arrangement& a) {
    a.c().async_get("/", read_from::any_server, [](auto, const auto&) {});
}

INSTANTIATE_TEST_SUITE_P(Of,
                         ForeignCodeOverTcp,
                         ::testing::Values(foreign_kind{"AtRisk", true, expire_at_risk},
                                           foreign_kind{"Executor", false, read_with_a_handler}),
                         &name_of_kind);

TEST_P(ForeignCodeOverTcp, HarmsNoOtherClientForLongerThanASessionTimeout) {
    const std::string where = servers_.serve();
    const client other = client::connect(where, {.session_timeout = 4s});
    mutex m(other, "/bystander");
    const hold held = m.acquire();
    client_options how{.session_timeout = 4s, .close_timeout = 100ms};
    const auto code = std::make_shared<endless_code>();
    const auto foreign = endless_code::of(code);
    if (!GetParam().on_stop_thread) {
        how.executor = [foreign](move_only_function<void()> f) {
            foreign();
            f();
        };
    }
    arrangement a{.servers = servers_, .how = {}, .foreign = foreign};
    a.connected.emplace(client::connect(where, std::move(how)));
    const at_end let_it_return{[&] { code->over = true; }};
    ASSERT_TRUE(a.c().wait_connected(long_enough));
    GetParam().begin(a);
    ASSERT_TRUE(code->begun.get_for(long_enough));
    EXPECT_FALSE(eventually([&] { return !held.valid(); }, 5s)) << to_string(held.why_lost());
}

}  // namespace
}  // namespace latchkey::test
