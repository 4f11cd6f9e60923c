#include <latchkey/barrier.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/semaphore.hpp>

#include "blocking_thread.hpp"
#include "forked_child.hpp"
#include "recipe_test.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

class Client : public RecipeTest {};

/// What a listener was told, readable by the test's thread.
class diary {
public:
    explicit diary(client& c) : listening_(c.on_change([this](connection_state s) { note(s); })) {}

    [[nodiscard]] std::vector<connection_state> told() const {
        const boost::lock_guard<boost::mutex> lock(mutex_);
        return told_;
    }

    [[nodiscard]] bool has(connection_state s) const {
        const auto all = told();
        return std::find(all.begin(), all.end(), s) != all.end();
    }

private:
    void note(connection_state s) {
        const boost::lock_guard<boost::mutex> lock(mutex_);
        told_.push_back(s);
    }

    mutable boost::mutex mutex_;
    std::vector<connection_state> told_;
    subscription listening_;
};

TEST_P(Client, ConnectsAndNegotiatesASession) {
    client c = connect();
    EXPECT_TRUE(c.wait_connected(30s));
    EXPECT_EQ(c.state(), connection_state::connected);
    EXPECT_NE(c.session_id(), 0);
    EXPECT_EQ(c.session_timeout(), 10s) << "as asked for: the servers grant it";
    EXPECT_EQ(c.last_error(), "");
    client greedy = world_->connect({.session_timeout = 24h});
    ASSERT_TRUE(greedy.wait_connected(30s));
    EXPECT_GT(greedy.session_timeout(), 10s);
    EXPECT_LT(greedy.session_timeout(), 24h) << "more than the servers grant";
}

TEST_P(Client, ReplacesALostSession) {
    client c = connect();
    const diary d(c);
    ASSERT_TRUE(c.wait_connected(30s));
    const std::int64_t first = c.session_id();
    world_->expire(first);
    EXPECT_TRUE(eventually([&] { return d.has(connection_state::lost); }));
    EXPECT_TRUE(eventually([&] { return c.session_id() != 0 && c.session_id() != first; }));
    EXPECT_TRUE(eventually([&] { return d.told().back() == connection_state::connected; }));
}

TEST_P(Client, WaiterJoinsAnewAtTheTailAfterALoss) {
    client a = connect();
    client b = connect();
    mutex first(a, path_);
    mutex second(b, path_);
    hold h = first.acquire();
    std::atomic<int> reserved{0};
    std::atomic<bool> granted{false};
    std::thread waiter([&] {
        const hold g =
            second.acquire({.stop = {}, .reserved = [&](const queue_position&) { ++reserved; }});
        granted = g.valid();
    });
    ASSERT_TRUE(eventually([&] { return reserved == 1; }));
    world_->expire(b.session_id());
    EXPECT_TRUE(eventually([&] { return reserved == 2; }));
    EXPECT_FALSE(granted);
    h.release();
    waiter.join();
    EXPECT_TRUE(granted);
}

TEST_P(Client, CloseEndsHoldsAndWaitersAndDeletesWhatIsThere) {
    client a = connect();
    client b = connect();
    mutex first(a, path_);
    mutex second(a, path_);
    mutex unused(a, path_);
    hold h = first.acquire();
    blocking_result<std::error_code> waited;
    second.async_acquire({}, [&](std::error_code ec, const hold&) { waited.set(ec); });
    ASSERT_TRUE(eventually([&] { return first.participants().size() == 2; }));
    const diary d(a);
    a.close();
    EXPECT_EQ(waited.get(), errc::closed);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::client_closed);
    EXPECT_TRUE(h.lost().stop_requested());
    EXPECT_EQ(d.told(), std::vector{connection_state::closed});
    EXPECT_TRUE(world_->children(path_).empty());
    std::error_code ec;
    EXPECT_FALSE(unused.acquire({}, ec));
    EXPECT_EQ(ec, errc::closed);
    EXPECT_THROW(static_cast<void>(a.wait_connected(1s)), error);
    a.close();
    h.release();
}

TEST_P(Client, CloseFailsThreadsThatQueueInsideOneObject) {
    client c = connect();
    mutex m(c, path_);
    const hold h = m.acquire();
    std::atomic<int> failed{0};
    std::deque<blocking_thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            std::error_code ec;
            const hold never = m.acquire({}, ec);
            failed += ec == errc::closed ? 1 : 0;
        });
    }
    ASSERT_TRUE(eventually([&] {
        return std::all_of(
            threads.begin(), threads.end(), [](const auto& t) { return t.blocks(); });
    }));
    c.close();
    for (auto& t : threads) {
        t.join();
    }
    EXPECT_EQ(failed, 4);
}

TEST_P(Client, MayBeDestroyedInAnyOrder) {
    for (int order = 0; order < 6; ++order) {
        auto c = std::make_unique<client>(connect());
        auto m = std::make_unique<mutex>(*c, path_);
        auto h = std::make_unique<hold>(m->acquire());
        const auto drop = [&](int which) {
            if (which == 0) {
                c.reset();
            } else if (which == 1) {
                m.reset();
            } else {
                h.reset();
            }
        };
        drop(order % 3);
        drop((order % 3 + 1 + order / 3) % 3);
        drop((order % 3 + 2 - order / 3) % 3);
        EXPECT_TRUE(empties(path_)) << "order " << order;
    }
}

TEST_P(Client, MayBeDestroyedInItsOwnCallback) {
    auto c = std::make_unique<client>(connect());
    mutex m(*c, path_);
    blocking_result<bool> gone;
    m.async_acquire({}, [&](std::error_code, const hold&) {
        c.reset();
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
    client c = connect();
    ::testing::internal::CaptureStderr();
    for (int i = 0; i < 2; ++i) {
        c.async_exists("/", read_from::any_server, [](auto, auto) {
            throw std::runtime_error("the user's own \x1b[31m trouble");
        });
    }
    std::promise<void> next;
    c.async_exists("/", read_from::any_server, [&](auto, auto) { next.set_value(); });
    next.get_future().wait();
    const std::string said = ::testing::internal::GetCapturedStderr();
    const auto at = said.find("latchkey: a callback threw: the user's own \\x1b[31m trouble");
    EXPECT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find("callback threw", at + 20), std::string::npos) << said;
}

TEST_P(Client, EndedSubscriptionHearsNothing) {
    client c = connect();
    ASSERT_TRUE(c.wait_connected(30s));
    std::atomic<int> heard{0};
    subscription ended = c.on_change([&](connection_state) { ++heard; });
    const diary goes_on(c);  // listens later, and so is told later
    ended = {};
    const int before = heard;
    world_->expire(c.session_id());
    EXPECT_TRUE(eventually([&] {
        return goes_on.has(connection_state::lost) &&
               goes_on.told().back() == connection_state::connected;
    }));
    EXPECT_EQ(heard, before);
}

TEST_P(Client, DenyingAclIsAnErrorThatNamesThePath) {
    client_options identified = patient();
    identified.auth = {{.scheme = "digest", .secret = "alice:secret"}};
    client alice = world_->connect(identified);
    mutex hers(alice, path_);
    const hold h = hers.acquire();
    client anybody = connect();
    mutex theirs(anybody, path_);
    try {
        const hold never = theirs.acquire();
        ADD_FAILURE() << "granted";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::not_authorized);
        EXPECT_NE(std::string(e.what()).find(path_), std::string::npos) << e.what();
    }
    identified.auth.front().secret = "alice:secret";
    client again = world_->connect(identified);
    mutex also_hers(again, path_);
    EXPECT_FALSE(also_hers.try_acquire());
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
    client_options identified = patient();
    identified.auth = {{.scheme = "digest", .secret = "alice:secret"}};
    client alice = world_->connect(identified);
    mutex hers(alice, path_);
    const hold h = hers.acquire();
    const client anybody = connect();
    EXPECT_THAT(errors_below(anybody, path_),
                ::testing::Each(make_error_code(errc::not_authorized)));
    group family(alice, path_);
    const membership child = family.join("child");
    EXPECT_THAT(errors_below(alice, path_ + "/child"),
                ::testing::Each(make_error_code(errc::ephemeral_parent)));
}

TEST_P(Client, ListThatShutsItsAuthorOutIsRefusedBeforeAnythingIsWritten) {
    client_options identified = patient();
    identified.auth = {{.scheme = "digest", .secret = "ops:secret"}};
    client ops = world_->connect(identified);
    for (const acl& list : {acl{{"digest", "ops:secret", permission::all}},
                            acl{{"world", "anyone", permission::read}},
                            acl{{"auth", "", permission::read | permission::create}},
                            acl{}}) {
        const std::vector<std::function<void()>> uses{
            [&] { static_cast<void>(mutex(ops, path_, {.access = list}).acquire()); },
            [&] { static_cast<void>(semaphore(ops, path_, 1, {.access = list}).acquire(1)); },
            [&] { barrier(ops, path_, {.access = list}).set(); },
            [&] { static_cast<void>(double_barrier(ops, path_, 1, {.access = list}).enter()); },
            [&] { static_cast<void>(group(ops, path_, {.access = list}).join("name")); }};
        for (const auto& use : uses) {
            EXPECT_THAT(use,
                        ::testing::Throws<error>(::testing::Property(
                            &error::code, make_error_code(errc::invalid_argument))));
        }
        client_options own = identified;
        own.access = list;
        if (!list.empty()) {
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
    std::error_code ec;
    const hold never = m.acquire({}, ec);
    EXPECT_EQ(ec, errc::authentication_failed);
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
    try {
        const hold h = m.acquire();
        ADD_FAILURE() << "granted";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        EXPECT_NE(std::string(e.what()).find("43200000 ms"), std::string::npos) << e.what();
    }
    EXPECT_TRUE(eventually([&] { return c.state() == connection_state::closed; }));
}

TEST_P(Client, IsInertInAForkedChild) {
    client c = connect();
    mutex m(c, path_);
    auto h = std::make_unique<hold>(m.acquire());
    EXPECT_TRUE(holds_in_a_forked_child([&] {
        bool inert = !h->valid() && h->why_lost() == loss_reason::forked;
        inert = inert && c.state() == connection_state::closed;
        std::error_code ec;
        inert = inert && !m.acquire({}, ec) && ec == errc::forked;
        inert = inert && !c.get("/", read_from::any_server, ec) && ec == errc::forked;
        inert = inert && !h->transact_once("/marker", {operation::check("/")}, ec) &&
                ec == errc::forked;
        h.reset();
        { const client moved(std::move(c)); }
        return inert;
    }));
    EXPECT_TRUE(h->valid());
    EXPECT_EQ(world_->children(path_).size(), 1U);
}

LATCHKEY_IN_THIS_WORLD(Client);

}  // namespace
}  // namespace latchkey::test
