// What a client makes of the events of a session, one at a time.
#include "client/client_core.hpp"

#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>

#include "ensemble/virtual/virtual_loop.hpp"
#include "session/connect_string.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using kind = session_event::kind;

/// Answers nothing; what happens to it is the test's to say.
class silent_session final : public session {
public:
    void submit(request, completion) override {}

    void submit(request, const std::shared_ptr<watcher>&, completion) override {}

    void reconnect() override {}

    void close(std::function<void()> done) override { done(); }
};

class silent_sessions final : public session_factory {
public:
    [[nodiscard]] std::unique_ptr<session> open(const session_options&,
                                                session::event_handler events) override {
        ++opened;
        tell = std::move(events);
        return std::make_unique<silent_session>();
    }

    int opened = 0;
    session::event_handler tell;
};

class ClientCore : public ::testing::Test {
protected:
    ClientCore() { start(); }

    void start(client_options how = {}) {
        sessions_->opened = 0;
        runtime e;
        e.loop = loop_;
        e.sessions = sessions_;
        e.callbacks = [l = loop_](const char*) -> runtime::executor {
            return [l](move_only_function<void()> f) {
                l->post(
                    [f = std::make_shared<move_only_function<void()>>(std::move(f))] { (*f)(); });
            };
        };
        core_ = client_core::start(std::move(e), parse_connect_string("host:2181"), std::move(how));
        run();
        tell(kind::connected);
    }

    ~ClientCore() override {
        core_.reset();
        loop_->abandon();
    }

    void tell(kind what, std::int64_t id = 1) {
        session_event e;
        e.what = what;
        e.id = id;
        e.timeout = 10s;
        const auto handler = sessions_->tell;
        handler(e);
    }

    /// What is to be done now.
    void run() { loop_->run_for(1ms); }

    std::shared_ptr<virtual_loop> loop_ = virtual_loop::make(virtual_loop::mode::stepped, 1);
    std::shared_ptr<silent_sessions> sessions_ = std::make_shared<silent_sessions>();
    std::shared_ptr<client_core> core_;
};

TEST_F(ClientCore, WritesForItselfAloneOnceItHasAnIdentity) {
    EXPECT_EQ(*core_->access(), open_unsafe_acl());
    client_options how;
    how.auth = {{.scheme = "digest", .secret = "jo:secret"}};
    start(how);
    EXPECT_EQ(*core_->access(), creator_only_acl());
    how.auth.clear();
    how.tls = tls_options{.certificate_file = "client.pem"};
    start(how);
    EXPECT_EQ(*core_->access(), creator_only_acl());
}

TEST_F(ClientCore, OpensAnotherSessionAfterTheEndOfOne) {
    tell(kind::expired);
    loop_->run_for(1s);
    EXPECT_EQ(sessions_->opened, 2);
}

// A timer would run, or be cancelled, when the client has been destroyed by some other thread.
TEST_F(ClientCore, ThatDrainsHasNothingLeftToDoWhenItsSessionEndsOrIsReplaced) {
    for (const kind end : {kind::expired, kind::connected}) {
        start();
        std::vector<connection_state> told;
        const auto listening =
            core_->listeners().add([&](connection_state s) { told.push_back(s); });
        core_->deletes().add("/a", nullptr);
        core_->close();
        run();
        ASSERT_NE(core_->state(), connection_state::closed) << "it drains";
        tell(end, 2);
        run();
        EXPECT_EQ(core_->state(), connection_state::closed);
        EXPECT_FALSE(core_->connected());
        EXPECT_FALSE(loop_->step());
        EXPECT_EQ(sessions_->opened, 1);
        EXPECT_EQ(told, (std::vector{connection_state::lost, connection_state::closed}));
    }
}

TEST_F(ClientCore, OfAClientThatWasMovedFromIsAClearError) {
    client from = client_core::handle(core_);
    const client to = std::move(from);
    EXPECT_EQ(from.state(), connection_state::closed);  // NOLINT: what it says when moved from
    EXPECT_EQ(from.last_error(), "moved from");
    EXPECT_EQ(from.session_id(), 0);
    EXPECT_EQ(from.session_timeout(), 0ms);
    EXPECT_EQ(from.callback_running_for(), 0ns);
    from.close();
    const auto expect_closed = [](const auto& call) {
        EXPECT_THAT(call,
                    ::testing::Throws<error>(
                        ::testing::Property(&error::code, make_error_code(errc::closed))));
    };
    expect_closed([&] { static_cast<void>(from.wait_connected(1s)); });
    expect_closed([&] { static_cast<void>(from.on_change({})); });
    expect_closed([&] { const mutex m(from, "/lock"); });
    expect_closed([&] { const leader_latch l(from, "/leader"); });
    EXPECT_EQ(to.state(), connection_state::connected);
}

}  // namespace
}  // namespace latchkey
