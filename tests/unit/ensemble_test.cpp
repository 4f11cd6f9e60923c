#include <latchkey/ensemble.hpp>

#include "ensemble/ensemble_access.hpp"

#include <gtest/gtest.h>

namespace {
using namespace std::chrono_literals;
using namespace latchkey;
using latchkey::testing::ensemble;

TEST(Smoke, Works) {
    ensemble::options o;
    o.mode = ensemble::mode::stepped;
    ensemble e(o);
    environment env = latchkey::testing::environment_of(e);
    session_options so;
    so.timeout = 6s;
    std::vector<session_event> events;
    auto s = env.sessions->open(so, [&](const session_event& ev) { events.push_back(ev); });
    ASSERT_TRUE(e.run_until([&] { return !events.empty(); }, 10s));
    ASSERT_EQ(events[0].what, session_event::kind::connected) << events[0].detail;
    std::vector<reply> replies;
    s->submit(request::create("/a", "x", create_mode::ephemeral, open_unsafe_acl()),
              [&](reply r) { replies.push_back(r); });
    s->submit(request::get("/a"), [&](reply r) { replies.push_back(r); });
    ASSERT_TRUE(e.run_until([&] { return replies.size() == 2; }, 10s));
    EXPECT_EQ(replies[1].data, "x");
    EXPECT_EQ(replies[1].stat.czxid, replies[0].stat.czxid);
    e.expire(events[0].id);
    e.run_for(1s);
    EXPECT_FALSE(e.exists("/a"));
    EXPECT_EQ(events.back().what, session_event::kind::expired);
    e.run_for(100s);
}

TEST(Smoke, Threaded) {
    ensemble e;
    environment env = latchkey::testing::environment_of(e);
    session_options so;
    so.timeout = 6s;
    std::unique_ptr<session> s;
    std::atomic<int> got{0};
    env.loop->post([&] { s = env.sessions->open(so, [&](const session_event&) { ++got; }); });
    ASSERT_TRUE(e.run_until([&] { return got == 1; }, 10s));
    e.advance(1h);
    EXPECT_EQ(got, 1);
    env.loop->post([&] {
        s = nullptr;
        got = 0;
    });
    ASSERT_TRUE(e.run_until([&] { return got == 0; }, 10s));
}
}  // namespace
