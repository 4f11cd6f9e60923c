#include "make_watcher.hpp"
#include "session_contract.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string number(std::size_t i) {
    return std::to_string(i);
}

// ---- the order of answers ----

TEST_P(SessionContract, NothingIsCalledFromInsideSubmit) {
    std::size_t before = 0;
    std::size_t after = 0;
    main_->on_loop([&] {
        before = main_->journal().size();
        main_->send("good", request::get(base()));
        main_->send("bad", request::get("relative"));
        main_->send("none", request::multi({}));
        after = main_->journal().size();
    });
    EXPECT_EQ(before, after);
    EXPECT_TRUE(main_->wait_for("good:ok"));
    EXPECT_TRUE(main_->wait_for("bad:bad_arguments"));
    EXPECT_TRUE(main_->wait_for("none:bad_arguments"));
}

TEST_P(SessionContract, AnswersComeInTheOrderOfTheRequests) {
    std::vector<std::string> expected;
    main_->on_loop([&] {
        for (std::size_t i = 0; i < 90; i += 3) {
            main_->send(number(i), create(at("n-"), ephemeral_numbered));
            main_->send(number(i + 1), request::get(base()));
            main_->send(number(i + 2), request::sync(base()));
        }
    });
    for (std::size_t i = 0; i < 90; ++i) {
        expected.push_back(number(i) + ":ok");
    }
    ASSERT_TRUE(main_->wait_for("89:ok"));
    const std::vector<std::string> all = main_->journal();
    EXPECT_EQ(std::vector<std::string>(all.end() - 90, all.end()), expected);
}

TEST_P(SessionContract, AListSentWithACreateShowsIt) {
    constexpr std::size_t rounds = 100;
    main_->on_loop([&] {
        for (std::size_t i = 0; i < rounds; ++i) {
            main_->send("c" + number(i), create(at("n-"), ephemeral_numbered));
            main_->send("l" + number(i), request::children(base()));
        }
    });
    ASSERT_TRUE(main_->wait_for("l" + number(rounds - 1) + ":ok"));
    for (std::size_t i = 0; i < rounds; ++i) {
        EXPECT_THAT(main_->answer("l" + number(i))->names, SizeIs(i + 1))
            << "and the creates before it, and no others";
    }
}

TEST_P(SessionContract, AReadSentAfterAWriteSeesItAlsoIfTheWriteFails) {
    main_->on_loop([&] {
        main_->send("create", create(at("a"), ephemeral, "1"));
        main_->send("again", create(at("a"), ephemeral, "2"));
        main_->send("get", request::get(at("a")));
    });
    ASSERT_TRUE(main_->wait_for("get:ok"));
    EXPECT_EQ(main_->answer("again")->code, result_code::node_exists);
    EXPECT_EQ(main_->answer("get")->data, "1");
}

TEST_P(SessionContract, AfterAWriteAReadSeesWhatWasAnsweredToOthers) {
    const auto other = another();
    for (std::size_t i = 0; i < 20; ++i) {
        ASSERT_TRUE(main_->ask(create(at(number(i)))).ok());
        other->on_loop([&] {
            other->send("write", request::multi({request::check(base())}));
            other->send("get" + number(i), request::get(at(number(i))));
        });
        EXPECT_TRUE(other->wait_for("get" + number(i) + ":ok"));
    }
}

// ---- connections ----

TEST_P(SessionContract, WhatIsLostWithTheConnectionCompletesOnceAndAfterSuspended) {
    constexpr std::size_t count = 50;
    main_->on_loop([&] {
        for (std::size_t i = 0; i < count; ++i) {
            main_->send("r" + number(i), create(at("n-"), ephemeral_numbered));
        }
        main_->reconnect();
    });
    ASSERT_TRUE(wait([&] { return main_->entries("r").size() >= count; }));
    ASSERT_TRUE(main_->wait_for("connected", 2));
    EXPECT_TRUE(main_->ask(request::get(base())).ok()) << "lost ones would have come by now";
    EXPECT_THAT(main_->entries("r"), SizeIs(count));
    const std::vector<std::string> all = main_->journal();
    const auto suspended = std::find(all.begin(), all.end(), "suspended");
    for (std::size_t i = 0; i < count; ++i) {
        const std::string label = "r" + number(i);
        const result_code code = main_->answer(label)->code;
        EXPECT_TRUE(code == result_code::ok || outcome_unknown(code));
        const bool before =
            std::find(all.begin(), suspended, label + ":" + text_of(code)) != suspended;
        EXPECT_EQ(before, code == result_code::ok) << label;
        EXPECT_THAT(main_->entries(label + ":"), SizeIs(1));
    }
}

TEST_P(SessionContract, TheSessionAndItsEphemeralsOutliveABrokenConnection) {
    main_->ask(create(at("e"), ephemeral));
    const std::int64_t id = main_->id();
    main_->on_loop([&] { main_->reconnect(); });
    ASSERT_TRUE(main_->wait_for("suspended"));
    ASSERT_TRUE(main_->wait_for("connected", 2));
    main_->cut_off();
    ASSERT_TRUE(main_->wait_for("suspended", 2));
    main_->on_loop([&] { main_->send("r", request::get(base())); });
    main_->let_back();
    ASSERT_TRUE(main_->wait_for("connected", 3));
    EXPECT_EQ(main_->id(), id);
    EXPECT_EQ(main_->ask(request::exists(at("e"))).stat.ephemeral_owner, id);
    EXPECT_EQ(main_->count("expired"), 0U);
    ASSERT_TRUE(wait([&] { return main_->answer("r").has_value(); }));
    EXPECT_THAT(text_of(main_->answer("r")->code), ::testing::AnyOf("ok", "lost"))
        << "a request without a connection is sent later or fails";
}

TEST_P(SessionContract, AnIdleSessionLives) {
    main_->ask(create(at("e"), ephemeral));
    const auto other = another();
    const auto w = other->watcher("w");
    catch_up(*other);
    ASSERT_TRUE(other->ask(request::get(at("e")), w).ok());
    subject idle(*ensemble_);
    ASSERT_TRUE(idle.wait_connected());
    // Another session's whole life, and its timeout, passes meanwhile.
    auto brief = another();
    brief->ask(create(at("brief"), ephemeral));
    brief->destroy();
    ASSERT_TRUE(wait([&] { return gone(*other, at("brief")); }));
    EXPECT_EQ(other->entries("w:").size(), 0U);
    EXPECT_THAT(idle.journal(), ElementsAre("connected"));
}

// ---- the end ----

TEST_P(SessionContract, ExpiryTakesTheEphemeralsTogetherAndCompletesAllWithThat) {
    const auto other = another();
    const std::int64_t id = main_->id();
    EXPECT_NE(id, 0);
    EXPECT_NE(other->id(), id);
    main_->ask(create(at("d")));
    main_->ask(create(at("d/p")));
    main_->ask(create(at("d/e1"), ephemeral));
    main_->ask(create(at("d/e2"), ephemeral));
    main_->expire();
    ASSERT_TRUE(wait([&] { return gone(*other, at("d/e1")); }));
    EXPECT_THAT(other->ask(request::children(at("d"))).names, ElementsAre("p"));
    ASSERT_TRUE(main_->wait_for("expired"));
    // On a dead handle a transaction would crash the C client.
    for (const request& r :
         {request::get(base()), create(at("a")), request::multi({request::check(base())})}) {
        EXPECT_EQ(main_->ask(r).code, result_code::session_expired);
    }
    main_->on_loop([&] { main_->close(); });
    EXPECT_TRUE(main_->wait_for("closed"));
    EXPECT_EQ(main_->count("expired"), 1U);
    const auto next = another();
    EXPECT_NE(next->id(), id);
    EXPECT_TRUE(next->ask(request::get(base())).ok());
}

TEST_P(SessionContract, CloseSendsWhatIsAheadOfItCompletesItAndTellsItsEndLast) {
    constexpr std::size_t count = 10;
    main_->ask(create(at("e"), ephemeral));
    main_->on_loop([&] {
        for (std::size_t i = 0; i < count; ++i) {
            main_->send("r" + number(i), create(at("n-"), numbered));
        }
        main_->close();
        main_->send("late", request::get(base()));
    });
    ASSERT_TRUE(main_->wait_for("closed"));
    ASSERT_TRUE(wait([&] { return main_->answer("late").has_value(); }));
    EXPECT_EQ(main_->answer("late")->code, result_code::closing);
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_THAT(main_->entries("r" + number(i) + ":"),
                    ElementsAre("r" + number(i) + ":closing"));
    }
    const std::vector<std::string> all = main_->journal();
    EXPECT_TRUE(std::none_of(std::find(all.begin(), all.end(), "closed"),
                             all.end(),
                             [](const std::string& entry) { return entry.starts_with("r"); }))
        << "told after the end";
    EXPECT_EQ(std::count(all.begin(), all.end(), "suspended"), 0);
    const auto other = another();
    EXPECT_TRUE(gone(*other, at("e"))) << "at once";
    EXPECT_THAT(other->ask(request::children(base())).names, SizeIs(count));
}

TEST_P(SessionContract, CloseWithoutAConnectionDoesNotWaitForOne) {
    auto s = another();
    s->cut_off();
    ASSERT_TRUE(s->wait_for("suspended"));
    s->on_loop([&] {
        s->send("r", request::get(base()));
        s->close();
    });
    EXPECT_TRUE(s->wait_for("closed"));
    EXPECT_THAT(s->entries("r:"), SizeIs(1));
    s->destroy();
    s->let_back();
}

TEST_P(SessionContract, ADestroyedSessionTellsNothingAndLeavesItsEphemerals) {
    auto brief = another();
    brief->ask(create(at("e"), ephemeral));
    brief->on_loop([&] {
        for (int i = 0; i < 10; ++i) {
            brief->send("r", request::get(base()));
        }
    });
    brief->destroy();
    const std::size_t told = brief->journal().size();
    catch_up(*main_);
    EXPECT_TRUE(main_->ask(request::exists(at("e"))).ok());
    ASSERT_TRUE(wait([&] { return gone(*main_, at("e")); })) << "its timeout ends it";
    EXPECT_THAT(brief->journal(), SizeIs(told));
}

TEST_P(SessionContract, AWatcherMaySubmitMoreOrDestroyTheSession) {
    auto s = another();
    const auto w = make_watcher([&](watch_event) { s->send("from-watch", request::get(base())); });
    s->ask(request::children(base()), w);
    main_->ask(create(at("a")));
    EXPECT_TRUE(s->wait_for("from-watch:ok"));
    const auto ending = make_watcher([&](watch_event) { s->destroy_here(); });
    s->ask(request::children(base()), ending);
    main_->ask(create(at("b")));
    EXPECT_TRUE(wait([&] { return s->destroyed(); }));
}

}  // namespace
}  // namespace latchkey::test
