#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "session_probe.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using test::eventually;
using test::real_ensemble;
using test::session_probe;
using kind = session_event::kind;

request create(std::string path, create_mode mode, std::string data = "") {
    return request::create(std::move(path), std::move(data), mode, open_unsafe_acl());
}

/// What a watcher has seen.
class watch_probe {
public:
    [[nodiscard]] const std::shared_ptr<session::watcher>& watcher() const { return watcher_; }

    [[nodiscard]] std::size_t count(watch_event what) const {
        return counts_->at(static_cast<std::size_t>(what));
    }

    void forget() { watcher_.reset(); }

private:
    using counters = std::array<std::atomic<std::size_t>, 3>;
    std::shared_ptr<counters> counts_ = std::make_shared<counters>();
    std::shared_ptr<session::watcher> watcher_ = std::make_shared<session::watcher>(
        [counts = counts_](watch_event what) { ++counts->at(static_cast<std::size_t>(what)); });
};

class ZooKeeperSession : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(s.wait_for(kind::connected));
        ASSERT_TRUE(s.call(create(root, create_mode::persistent)).ok());
    }

    [[nodiscard]] bool exists(const std::string& path) {
        // A write comes after what other sessions have written; a `sync` may be answered earlier.
        EXPECT_TRUE(s.call(request::multi({request::check(root)})).ok());
        return s.call(request::exists(path)).ok();
    }

    const std::string root = real_ensemble::fresh_path();
    session_probe s{real_ensemble::shared().connect_string()};
};

TEST_F(ZooKeeperSession, AnswersWithDeepCopiesOfWhatTheServersSay) {
    const std::string data("a\0b\xff", 4);
    const auto made = s.call(create(root + "/n-", create_mode::ephemeral_sequential, data));
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made.path, root + "/n-0000000000");
    EXPECT_GT(made.stat.czxid, 0);
    EXPECT_EQ(made.stat.ephemeral_owner, s.last(kind::connected).id);

    const auto got = s.call(request::get(made.path));
    EXPECT_EQ(got.data, data);
    EXPECT_EQ(got.stat.czxid, made.stat.czxid);
    EXPECT_EQ(got.stat.data_length, 4);

    const auto changed = s.call(request::set(made.path, "", 0));
    ASSERT_TRUE(changed.ok());
    EXPECT_EQ(changed.stat.version, 1);
    EXPECT_EQ(s.call(request::get(made.path)).data, "");
    EXPECT_EQ(s.call(request::set(made.path, "x", 0)).code, result_code::bad_version);

    EXPECT_THAT(s.call(request::children(root)).names, testing::ElementsAre("n-0000000000"));
    EXPECT_TRUE(s.call(request::children(made.path)).names.empty());
    EXPECT_EQ(s.call(request::exists(root)).stat.num_children, 1);
    EXPECT_EQ(s.call(request::remove(root)).code, result_code::not_empty);
    EXPECT_TRUE(s.call(request::remove(made.path)).ok());
    EXPECT_EQ(s.call(request::remove(made.path)).code, result_code::no_node);
}

TEST_F(ZooKeeperSession, CreatesEachKindOfZnode) {
    EXPECT_TRUE(s.call(create(root + "/c", create_mode::container)).ok());
    EXPECT_EQ(s.call(create(root + "/p", create_mode::persistent)).stat.ephemeral_owner, 0);
    EXPECT_EQ(s.call(create(root + "/s", create_mode::persistent_sequential)).path,
              root + "/s0000000002");
    EXPECT_TRUE(s.call(create(root + "/e", create_mode::ephemeral)).ok());
    EXPECT_EQ(s.call(create(root + "/e/x", create_mode::persistent)).code,
              result_code::no_children_for_ephemerals);
    EXPECT_EQ(s.call(create(root + "/p", create_mode::persistent)).code, result_code::node_exists);
    EXPECT_EQ(s.call(create(root + "/", create_mode::ephemeral_sequential)).path,
              root + "/0000000004");
}

TEST_F(ZooKeeperSession, AppliesAMultiWholeOrNotAtAll) {
    const auto done =
        s.call(request::multi({create(root + "/a-", create_mode::ephemeral_sequential, "1"),
                               create(root + "/b", create_mode::persistent, "2"),
                               request::set(root + "/b", "3"),
                               request::check(root + "/b", 1),
                               request::remove(root + "/b")}));
    ASSERT_TRUE(done.ok());
    ASSERT_EQ(done.results.size(), 5U);
    EXPECT_EQ(done.results[0].path, root + "/a-0000000000");
    EXPECT_EQ(done.results[1].path, root + "/b");
    EXPECT_EQ(done.results[2].stat.version, 1);
    EXPECT_THAT(done.results, testing::Each(testing::Property(&reply::ok, true)));

    const auto refused = s.call(request::multi({create(root + "/c", create_mode::persistent),
                                                request::check(root, 77),
                                                request::remove(root + "/none")}));
    EXPECT_EQ(refused.code, result_code::bad_version);
    ASSERT_EQ(refused.results.size(), 3U);
    EXPECT_EQ(refused.results[0].code, result_code::ok);
    EXPECT_EQ(refused.results[0].path, "");
    EXPECT_EQ(refused.results[1].code, result_code::bad_version);
    EXPECT_EQ(refused.results[2].code, result_code::runtime_inconsistency);
    EXPECT_FALSE(exists(root + "/c"));
}

TEST_F(ZooKeeperSession, AnswersPipelinedRequestsInTheirOrder) {
    constexpr std::size_t rounds = 200;
    std::vector<std::size_t> listed;
    std::promise<void> all;
    s.on_loop([&] {
        for (std::size_t i = 1; i <= rounds; ++i) {
            s.session().submit(create(root + "/n-", create_mode::ephemeral_sequential),
                               [](const reply& r) { EXPECT_TRUE(r.ok()); });
            s.session().submit(request::children(root), [&](const reply& r) {
                listed.push_back(r.names.size());
                if (listed.size() == rounds) {
                    all.set_value();
                }
            });
        }
    });
    ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    for (std::size_t i = 0; i < rounds; ++i) {
        EXPECT_EQ(listed[i], i + 1) << "each list shows exactly the creates before it";
    }
}

TEST_F(ZooKeeperSession, TellsWatchersOnceWhatHappened) {
    const auto path = root + "/n";
    const watch_probe data;
    const watch_probe children;
    ASSERT_TRUE(s.call(create(path, create_mode::persistent)).ok());
    ASSERT_TRUE(session_probe::awaited(s.submit(request::get(path), data.watcher())).ok());
    ASSERT_TRUE(session_probe::awaited(s.submit(request::children(path), children.watcher())).ok());
    ASSERT_TRUE(s.call(request::set(path, "1")).ok());
    ASSERT_TRUE(s.call(request::set(path, "2")).ok());
    EXPECT_EQ(data.count(watch_event::changed), 1U) << "the event comes before the answer";
    ASSERT_TRUE(s.call(create(path + "/x", create_mode::persistent)).ok());
    EXPECT_EQ(children.count(watch_event::children_changed), 1U);
    ASSERT_TRUE(s.call(request::remove(path + "/x")).ok());
    EXPECT_EQ(children.count(watch_event::children_changed), 1U);

    ASSERT_TRUE(session_probe::awaited(s.submit(request::get(path), data.watcher())).ok());
    ASSERT_TRUE(session_probe::awaited(s.submit(request::children(path), children.watcher())).ok());
    ASSERT_TRUE(s.call(request::remove(path)).ok());
    EXPECT_EQ(data.count(watch_event::deleted), 1U);
    EXPECT_EQ(children.count(watch_event::deleted), 1U);
}

TEST_F(ZooKeeperSession, SharesAWatchAmongWatchersAndForgetsThoseThatAreGone) {
    const auto path = root + "/n";
    const watch_probe one;
    const watch_probe two;
    watch_probe gone;
    ASSERT_TRUE(s.call(create(path, create_mode::persistent)).ok());
    for (const auto* w : {&one, &two, static_cast<const watch_probe*>(&gone)}) {
        ASSERT_TRUE(session_probe::awaited(s.submit(request::get(path), w->watcher())).ok());
    }
    s.on_loop([&] { gone.forget(); });
    ASSERT_TRUE(s.call(request::set(path, "1")).ok());
    EXPECT_EQ(one.count(watch_event::changed), 1U);
    EXPECT_EQ(two.count(watch_event::changed), 1U);
    EXPECT_EQ(gone.count(watch_event::changed), 0U);
}

TEST_F(ZooKeeperSession, SetsNoWatchWhenTheAnswerIsNotOk) {
    const auto path = root + "/later";
    const watch_probe w;
    EXPECT_EQ(session_probe::awaited(s.submit(request::get(path), w.watcher())).code,
              result_code::no_node);
    ASSERT_TRUE(s.call(create(path, create_mode::persistent)).ok());
    ASSERT_TRUE(s.call(request::set(path, "1")).ok());
    EXPECT_EQ(w.count(watch_event::changed), 0U);
}

TEST_F(ZooKeeperSession, EndsItsEphemeralsWhenClosedAndKeepsThemWhenDropped) {
    // Nothing here takes as long as these sessions would live.
    constexpr std::chrono::milliseconds timeout = std::chrono::minutes(1);
    const auto& servers = real_ensemble::shared().connect_string();
    session_probe closing(servers, timeout);
    session_probe dropping(servers, timeout);
    ASSERT_TRUE(closing.call(create(root + "/closed", create_mode::ephemeral)).ok());
    ASSERT_TRUE(dropping.call(create(root + "/dropped", create_mode::ephemeral)).ok());
    dropping.drop();
    ASSERT_EQ(closing.close().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    EXPECT_FALSE(exists(root + "/closed"));
    EXPECT_TRUE(exists(root + "/dropped"));
}

TEST_F(ZooKeeperSession, ShowsItsCredentials) {
    auto options = test::options_for(real_ensemble::shared().connect_string());
    options.identities.push_back({"digest", "bob:secret"});
    session_probe bob(std::move(options));
    const auto path = root + "/private";
    ASSERT_TRUE(
        bob.call(request::create(path, "x", create_mode::persistent, creator_only_acl())).ok());
    EXPECT_EQ(bob.call(request::get(path)).data, "x");
    EXPECT_EQ(s.call(request::get(path)).code, result_code::no_auth);
    bob.on_loop([&] { bob.session().reconnect(); });
    ASSERT_TRUE(bob.wait_for(kind::connected, 2));
    EXPECT_EQ(bob.call(request::get(path)).data, "x") << "also on the next connection";
}

TEST_F(ZooKeeperSession, RefusesAnUnknownSchemeOfCredentials) {
    auto options = test::options_for(real_ensemble::shared().connect_string());
    options.identities.push_back({"no-such-scheme", "x"});
    session_probe refused(std::move(options));
    EXPECT_TRUE(refused.wait_for(kind::auth_failed));
}

TEST_F(ZooKeeperSession, RefusesCreatorOnlyWithoutCredentials) {
    EXPECT_EQ(
        s.call(request::create(root + "/a", "", create_mode::persistent, creator_only_acl())).code,
        result_code::invalid_acl);
}

TEST_F(ZooKeeperSession, CarriesTheLargestRequestThatItTakes) {
    const std::string large(990'000, 'x');
    ASSERT_TRUE(s.call(create(root + "/large", create_mode::persistent, large)).ok());
    EXPECT_EQ(s.call(request::get(root + "/large")).data, large);
    EXPECT_EQ(s.call(request::set(root + "/large", large + large)).code,
              result_code::bad_arguments);
    EXPECT_EQ(s.count(kind::suspended), 0U);
}

}  // namespace
}  // namespace latchkey
