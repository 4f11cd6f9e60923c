#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/semaphore.hpp>

#include "blocking_thread.hpp"
#include "forked_child.hpp"
#include "notebook.hpp"
#include "recipe_test.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

class Client : public TwoClientsTest {
protected:
    mutex mine_{a_, path_};
};

TEST_P(Client, ConnectsAndNegotiatesASession) {
    EXPECT_TRUE(a_.wait_connected(30s));
    EXPECT_EQ(a_.state(), connection_state::connected);
    EXPECT_NE(a_.session_id(), 0);
    EXPECT_EQ(a_.session_timeout(), 10s) << "as asked for: the servers grant it";
    EXPECT_EQ(a_.last_error(), "");
    client greedy = world_->connect({.session_timeout = 24h});
    ASSERT_TRUE(greedy.wait_connected(30s));
    EXPECT_GT(greedy.session_timeout(), 10s);
    EXPECT_LT(greedy.session_timeout(), 24h) << "more than the servers grant";
}

TEST_P(Client, ReplacesALostSessionAndTellsThoseThatListen) {
    std::atomic<int> heard{0};
    subscription ended = a_.on_change([&](connection_state) { ++heard; });
    // It registers later, and so is called later.
    notebook<connection_state> told;
    const subscription s = a_.on_change([&](connection_state now) { told.note(now); });
    ASSERT_TRUE(a_.wait_connected(30s));
    ended = {};
    const int before = heard;
    EXPECT_TRUE(changes_session(a_));
    EXPECT_TRUE(eventually([&] { return told.has(connection_state::lost); }));
    EXPECT_TRUE(told.eventually_end_with(connection_state::connected));
    EXPECT_EQ(heard, before) << "after the end of the subscription";
}

TEST_P(Client, WaiterJoinsAnewAtTheTailAfterALoss) {
    mutex second(b_, path_);
    hold h = mine_.acquire();
    std::atomic<int> reserved{0};
    auto waiting = std::async(std::launch::async, [&] {
        return second.acquire({.stop = {}, .reserved = [&](const queue_position&) { ++reserved; }});
    });
    ASSERT_TRUE(eventually([&] { return reserved == 1; }));
    world_->expire(b_.session_id());
    EXPECT_TRUE(eventually([&] { return reserved == 2; }));
    EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
    h.release();
    EXPECT_TRUE(waiting.get().valid());
}

TEST_P(Client, CloseEndsHoldsAndWaitersAndDeletesWhatIsThere) {
    mutex second(a_, path_);
    mutex unused(a_, path_);
    hold h = mine_.acquire();
    blocking_result<std::error_code> waited;
    second.async_acquire({}, [&](std::error_code ec, const hold&) { waited.set(ec); });
    ASSERT_TRUE(eventually([&] { return mine_.participants().size() == 2; }));
    notebook<connection_state> told;
    const subscription s = a_.on_change([&](connection_state now) { told.note(now); });
    a_.close();
    EXPECT_EQ(waited.get(), errc::closed);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::client_closed);
    EXPECT_TRUE(h.lost().stop_requested());
    EXPECT_EQ(told.all(), std::vector{connection_state::closed});
    EXPECT_TRUE(world_->children(path_).empty());
    EXPECT_EQ(code_of([&](auto& ec) { EXPECT_FALSE(unused.acquire({}, ec)); }), errc::closed);
    EXPECT_THROW(static_cast<void>(a_.wait_connected(1s)), error);
    a_.close();
    h.release();
}

TEST_P(Client, CloseFailsThreadsThatQueueInsideOneObject) {
    const hold h = mine_.acquire();
    std::atomic<int> failed{0};
    std::deque<blocking_thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            const auto ec = code_of([&](auto& code) { return mine_.acquire({}, code); });
            failed += ec == errc::closed ? 1 : 0;
        });
    }
    ASSERT_TRUE(eventually([&] {
        return std::all_of(
            threads.begin(), threads.end(), [](const auto& t) { return t.blocks(); });
    }));
    a_.close();
    threads.clear();
    EXPECT_EQ(failed, 4);
}

TEST_P(Client, MayBeDestroyedInAnyOrder) {
    for (int order = 0; order < 6; ++order) {
        auto c = std::make_unique<client>(connect());
        auto m = std::make_unique<mutex>(*c, path_);
        auto h = std::make_unique<hold>(m->acquire());
        const std::function<void()> drops[] = {
            [&] { c.reset(); }, [&] { m.reset(); }, [&] { h.reset(); }};
        drops[order % 3]();
        drops[(order % 3 + 1 + order / 3) % 3]();
        drops[(order % 3 + 2 - order / 3) % 3]();
        EXPECT_TRUE(empties(path_)) << "order " << order;
    }
}

TEST_P(Client, MayBeDestroyedInItsOwnCallback) {
    blocking_result<bool> gone;
    mine_.async_acquire({}, [&](std::error_code, const hold&) {
        { const client destroyed(std::move(a_)); }
        gone.set(true);
    });
    EXPECT_TRUE(gone.get_for(30s));
}

TEST_P(Client, ThrowingCallbacksHarmNobody) {
    blocking_result<std::string> told;
    client_options o = patient();
    o.log = [&](const log_record& line) {
        told.set(std::string(line.text));
        throw 7;
    };
    client c = world_->connect(o);
    mutex m(c, path_);
    m.async_acquire({}, [](std::error_code, const hold&) {
        throw std::runtime_error("the user's own trouble");
    });
    EXPECT_TRUE(m.acquire());
    EXPECT_EQ(told.get(), "a callback threw: the user's own trouble");
}

TEST_P(Client, WithoutALogReportsTheFirstExceptionOfACallbackToStderr) {
    ::testing::internal::CaptureStderr();
    for (int i = 0; i < 2; ++i) {
        a_.async_exists("/", read_from::any_server, [](auto, auto) {
            throw std::runtime_error("the user's own \x1b[31m trouble");
        });
    }
    std::promise<void> next;
    a_.async_exists("/", read_from::any_server, [&](auto, auto) { next.set_value(); });
    next.get_future().wait();
    const std::string said = ::testing::internal::GetCapturedStderr();
    const auto at = said.find("latchkey: a callback threw: the user's own \\x1b[31m trouble");
    EXPECT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find("callback threw", at + 20), std::string::npos) << said;
}

TEST_P(Client, DenyingAclIsAnErrorThatNamesThePath) {
    client alice = connect_as("alice:secret");
    mutex hers(alice, path_);
    const hold h = hers.acquire();
    EXPECT_TRUE(fails_with(errc::not_authorized, [&] { return mine_.acquire(); }, {path_}));
    client again = connect_as("alice:secret");
    EXPECT_FALSE(mutex(again, path_).try_acquire());
}

/// What each call below `path` ends with that creates a directory first.
std::vector<std::error_code> errors_below(const client& c, const std::string& path) {
    std::vector<std::error_code> all(5);
    mutex m(c, path + "/more/lock");
    group g(c, path + "/more/group");
    barrier b(c, path + "/more/barrier");
    double_barrier d(c, path + "/more/double", 1);
    semaphore s(c, path + "/more/semaphore", 1U);
    const hold h = m.acquire({}, all[0]);
    const membership joined = g.join("name", {}, all[1]);
    b.set(all[2]);
    EXPECT_FALSE(d.enter(all[3]));
    const hold permit = s.acquire(1, {}, all[4]);
    return all;
}

TEST_P(Client, DirectoryThatMustNotBeCreatedIsAnErrorOfEachRecipeAtOnce) {
    client alice = connect_as("alice:secret");
    mutex hers(alice, path_);
    const hold h = hers.acquire();
    EXPECT_THAT(errors_below(a_, path_), ::testing::Each(make_error_code(errc::not_authorized)));
    group family(alice, path_);
    const membership child = family.join("child");
    EXPECT_THAT(errors_below(alice, path_ + "/child"),
                ::testing::Each(make_error_code(errc::ephemeral_parent)));
}

TEST_P(Client, ListThatShutsItsAuthorOutIsRefusedBeforeAnythingIsWritten) {
    client ops = connect_as("ops:secret");
    for (const acl& list : {acl{{"digest", "ops:secret", permission::all}},
                            acl{{"world", "anyone", permission::read}},
                            acl{{"auth", "", permission::read | permission::create}},
                            acl{}}) {
        EXPECT_TRUE(is_invalid([&] { return mutex(ops, path_, {.access = list}).acquire(); }));
        EXPECT_TRUE(
            is_invalid([&] { return semaphore(ops, path_, 1, {.access = list}).acquire(1); }));
        EXPECT_TRUE(is_invalid([&] { barrier(ops, path_, {.access = list}).set(); }));
        EXPECT_TRUE(
            is_invalid([&] { return double_barrier(ops, path_, 1, {.access = list}).enter(); }));
        EXPECT_TRUE(is_invalid([&] { return group(ops, path_, {.access = list}).join("name"); }));
        if (!list.empty()) {
            client_options own = patient();
            own.auth = {{.scheme = "digest", .secret = "ops:secret"}};
            own.access = list;
            EXPECT_THROW(static_cast<void>(world_->connect(own)), error);
        }
    }
    EXPECT_FALSE(ops.exists(path_));
}

TEST_P(Client, RefusedCredentialsEndTheClientWithAClearError) {
    client_options unknown = patient();
    unknown.auth = {{.scheme = "no-such-scheme", .secret = "x"}};
    client c = world_->connect(unknown);
    mutex m(c, path_);
    EXPECT_EQ(code_of([&](auto& ec) { return m.acquire({}, ec); }), errc::authentication_failed);
    EXPECT_TRUE(eventually([&] { return c.state() == connection_state::closed; }));
}

TEST_P(Client, OptionsThatCannotWorkAreRefused) {
    for (const client_options& bad :
         {client_options{.session_timeout = 0ms},
          client_options{.session_timeout = -5ms},
          client_options{.session_timeout = std::chrono::hours(24 * 365)},
          client_options{.close_timeout = -1ms},
          client_options{.session_timeout = 1s, .tick = 2s},
          client_options{.max_clock_drift = -0.01},
          client_options{.max_clock_drift = 0.5}}) {
        EXPECT_THROW(static_cast<void>(client::connect("localhost:1", bad)), error);
    }
    EXPECT_THROW(static_cast<void>(client::connect("localhost:1", {.tls = tls_options()})), error);
}

TEST_P(Client, TickThatLeavesNothingOfTheNegotiatedTimeoutIsAnErrorThatNamesBoth) {
    client_options o = patient();
    o.session_timeout = 24h;  // more than the servers grant
    o.tick = 12h;
    client c = world_->connect(o);
    mutex m(c, path_);
    EXPECT_TRUE(is_invalid([&] { return m.acquire(); }, {"43200000 ms"}));
    EXPECT_TRUE(eventually([&] { return c.state() == connection_state::closed; }));
}

TEST_P(Client, IsInertInAForkedChild) {
    auto h = std::make_unique<hold>(mine_.acquire());
    EXPECT_TRUE(holds_in_a_forked_child([&] {
        bool inert = !h->valid() && h->why_lost() == loss_reason::forked;
        inert = inert && a_.state() == connection_state::closed;
        std::error_code ec;
        inert = inert && !mine_.acquire({}, ec) && ec == errc::forked;
        inert = inert && !a_.get("/", read_from::any_server, ec) && ec == errc::forked;
        inert = inert && !h->transact_once("/marker", {operation::check("/")}, ec) &&
                ec == errc::forked;
        h.reset();
        { const client moved(std::move(a_)); }
        return inert;
    }));
    EXPECT_TRUE(h->valid());
    EXPECT_EQ(world_->children(path_).size(), 1U);
}

LATCHKEY_IN_THIS_WORLD(Client);

}  // namespace
}  // namespace latchkey::test
