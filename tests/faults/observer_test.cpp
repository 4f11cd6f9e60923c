// What client_options::observer receives, and what client::stats() counts.
#include <latchkey/client_stats.hpp>
#include <latchkey/event.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "stepped_test.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

/// An event that outlives the call.
struct noted {
    explicit noted(const event& e)
        : what(e), path(e.path), node(e.node), operation(e.operation), client(e.client) {}

    event what;  ///< its views are not used
    std::string path;
    std::string node;
    std::string operation;
    std::string client;
};

class Observer : public SteppedTest {
protected:
    client observed(client_options o = {.session_timeout = 12s}) {
        o.observer = [this](const event& e) { all_.emplace_back(e); };
        return connected(std::move(o));
    }

    /// Those of holds, since the last call.
    std::vector<noted> of_holds() {
        std::vector<noted> found;
        for (noted& n : all_) {
            if (n.what.span != 0) {
                found.push_back(std::move(n));
            }
        }
        all_.clear();
        return found;
    }

    static std::vector<std::string> kinds(const std::vector<noted>& events) {
        std::vector<std::string> names;
        for (const noted& n : events) {
            names.emplace_back(to_string(n.what.what));
        }
        return names;
    }

    /// All of one kind, ever.
    std::vector<event> all_of(event_kind kind) const {
        std::vector<event> found;
        for (const noted& n : all_) {
            if (n.what.what == kind) {
                found.push_back(n.what);
            }
        }
        return found;
    }

    static std::vector<std::error_code> errors(const std::vector<event>& events) {
        std::vector<std::error_code> all;
        for (const event& e : events) {
            all.push_back(e.error);
        }
        return all;
    }

    std::vector<noted> all_;
};

TEST_F(Observer, IsToldOfAHoldFromItsPlaceToItsRelease) {
    client a = connected();
    client b = observed({.session_timeout = 12s, .name = "worker"});
    mutex ahead(a, "/lock");
    mutex m(b, "/lock");
    hold first = held(ahead);
    const auto begun = ensemble_.now();
    const auto waits = acquire(m);
    ensemble_.run_for(1s);
    first.release();
    expect_granted(waits, 10s);
    const auto granted = ensemble_.now();
    ensemble_.run_for(3s);
    waits->granted.release();
    ensemble_.run_for(1s);

    const auto events = of_holds();
    ASSERT_THAT(kinds(events), ElementsAre("queued", "acquired", "released"));
    for (const noted& n : events) {
        EXPECT_EQ(n.path, "/lock");
        EXPECT_EQ(n.client, "worker");
        EXPECT_EQ(n.what.span, events.front().what.span);
        EXPECT_EQ(n.what.session, b.session_id());
        EXPECT_EQ(n.what.mode, lock_mode::exclusive);
        EXPECT_FALSE(n.what.leads);
        EXPECT_FALSE(n.what.error);
        EXPECT_EQ(n.node, events.front().node);
    }
    EXPECT_EQ(events[0].what.ahead, 1U);
    EXPECT_EQ(events[1].what.took, granted - begun);
    EXPECT_NE(events[1].what.token, fencing_token());
    EXPECT_EQ(events[2].what.took, 3s);
    EXPECT_EQ(events[2].what.token, events[1].what.token);
}

TEST_F(Observer, IsToldOfCallsThatEndWithoutAHold) {
    client a = connected();
    client b = observed();
    mutex ahead(a, "/lock");
    mutex m(b, "/lock");
    hold first = held(ahead);
    const auto late = acquire(m, 1s);
    const auto behind_it = acquire(m, 1s);  // waits in this process only
    ASSERT_TRUE(ensemble_.run_until([&] { return late->done && behind_it->done; }, 10s));
    ensemble_.set_acl("/lock", {{"world", "anyone", permission::read}});
    const auto refused = acquire(m);
    ASSERT_TRUE(ensemble_.run_until([&] { return refused->done; }, 10s));
    ensemble_.run_for(1s);

    const auto ends = all_of(event_kind::not_acquired);
    EXPECT_THAT(errors(ends),
                ElementsAre(std::error_code(), std::error_code(), errc::not_authorized));
    std::set<std::uint64_t> spans;
    for (const event& e : ends) {
        spans.insert(e.span);
    }
    EXPECT_EQ(spans.size(), 3U);
    const client_stats now = b.stats();
    EXPECT_EQ(now.not_acquired, 3U);
    EXPECT_EQ(now.waiting, 0U);
    EXPECT_EQ(now.acquired, 0U);
}

TEST_F(Observer, IsToldOfALossOnce) {
    client c = observed();
    mutex m(c, "/lock");
    hold h = held(m);
    EXPECT_EQ(c.stats().held, 1U);
    ensemble_.expire(c.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return !h.valid(); }, 20s));
    h.release();
    ensemble_.run_for(1s);

    const auto events = of_holds();
    ASSERT_THAT(kinds(events), ElementsAre("queued", "acquired", "lost"));
    EXPECT_EQ(events.back().what.why, loss_reason::session_expired);
    const client_stats now = c.stats();
    EXPECT_EQ(now.held, 0U);
    EXPECT_EQ(now.lost, 1U);
    EXPECT_EQ(now.released, 0U);
}

TEST_F(Observer, NamesThePathThatTheUserGave) {
    client c = observed();
    semaphore s(c, "/permits", 2);
    const hold both = held(s, 2U);
    const auto events = of_holds();
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.back().path, "/permits");
    EXPECT_EQ(events.back().what.what, event_kind::acquired);
    EXPECT_EQ(events.back().node.rfind("/permits/", 0), 0U);
}

TEST_F(Observer, IsToldOfConversions) {
    client c = observed();
    shared_mutex m(c, "/lock");
    const auto reads = convert(m, held(m, lock_mode::exclusive), lock_mode::shared);
    expect_granted(reads, 10s);
    reads->granted.release();
    ensemble_.run_for(1s);
    const auto events = of_holds();
    ASSERT_THAT(kinds(events), ElementsAre("queued", "acquired", "converted", "released"));
    EXPECT_EQ(events[1].what.mode, lock_mode::exclusive);
    EXPECT_EQ(events[2].what.mode, lock_mode::shared);
    EXPECT_EQ(events[3].what.mode, lock_mode::shared);
}

TEST_F(Observer, IsToldOfTerms) {
    client c = observed();
    leader_latch latch(c, "/service", {.id = "a"});
    latch.start();
    ASSERT_TRUE(ensemble_.run_until([&] { return latch.is_leader(); }, 10s));
    ensemble_.run_for(1s);
    latch.resign();
    ensemble_.run_for(10ms);
    const auto events = of_holds();
    ASSERT_GE(events.size(), 3U);
    EXPECT_EQ(events[1].what.what, event_kind::acquired);
    EXPECT_TRUE(events[1].what.leads);
    EXPECT_EQ(events[1].path, "/service");
    EXPECT_EQ(events[2].what.what, event_kind::lost);
    EXPECT_EQ(events[2].what.why, loss_reason::resigned);
    EXPECT_EQ(events[2].what.span, events[1].what.span);
    for (std::size_t i = 3; i < events.size(); ++i) {
        EXPECT_NE(events[i].what.span, events[1].what.span) << "the next candidacy";
    }
}

TEST_F(Observer, IsToldOfTransactionsAndRequests) {
    client c = observed();
    mutex m(c, "/lock");
    hold h = held(m);
    ensemble_.create("/effect");
    all_.clear();
    const std::uint64_t before = c.stats().requests;
    int ended = 0;
    const auto told = [&](std::error_code, const std::vector<operation_result>&) { ++ended; };
    h.async_transact({operation::set("/effect", "x")}, told);
    h.async_transact({operation::set("/effect", "x", 77)}, told);
    h.async_transact_once(
        "/marker", {operation::set("/effect", "y")}, [&](std::error_code, bool) { ++ended; });
    c.async_transact({operation::set("/effect", "z")}, told);
    ASSERT_TRUE(ensemble_.run_until([&] { return ended == 4; }, 10s));

    const std::error_code none;
    EXPECT_THAT(errors(all_of(event_kind::transaction)),
                ElementsAre(none, errc::version_mismatch, none, none));
    EXPECT_EQ(all_of(event_kind::request).size(), 4U);
    for (const noted& n : all_) {
        if (n.what.what == event_kind::transaction || n.what.what == event_kind::request) {
            EXPECT_GE(n.what.took, round_trip);
        }
        if (n.what.what == event_kind::request) {
            EXPECT_EQ(n.operation, "multi");
        }
    }
    EXPECT_EQ(c.stats().requests - before, 4U);
    EXPECT_EQ(c.stats().transactions, 3U);
}

TEST_F(Observer, IsToldOfTheConnection) {
    client c = observed();
    mutex m(c, "/lock");
    const hold h = held(m);
    ensemble_.cut(c.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return c.state() == connection_state::suspended; }, 1s));
    ensemble_.run_for(500us);
    EXPECT_GT(c.stats().disconnected_for, 0s);
    ASSERT_TRUE(
        ensemble_.run_until([&] { return c.state() == connection_state::reconnected; }, 10s));
    const client_stats now = c.stats();
    EXPECT_EQ(now.disconnected_for, 0s);
    EXPECT_EQ(now.sessions, 1U);
    EXPECT_EQ(now.connections, 2U);
    EXPECT_GT(now.validity_left, 0s);
    EXPECT_EQ(now.validity_left, h.remaining());
    c.close();
    ensemble_.run_for(5s);
    std::vector<std::string> states;
    for (const event& e : all_of(event_kind::state)) {
        states.emplace_back(to_string(e.state));
    }
    EXPECT_THAT(states, ElementsAre("connected", "suspended", "reconnected", "closed"));
    EXPECT_EQ(c.stats().validity_left, 0s);
    EXPECT_EQ(c.stats().state, connection_state::closed);
}

}  // namespace
}  // namespace latchkey::test
