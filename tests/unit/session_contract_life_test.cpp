#include "session_contract.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::string number(int i) {
    return std::to_string(i);
}

TEST_P(SessionContract, SessionsHaveIdsOfTheirOwn) {
    const auto other = another();
    EXPECT_NE(main_->id(), 0);
    EXPECT_NE(other->id(), 0);
    EXPECT_NE(main_->id(), other->id());
}

TEST_P(SessionContract, NothingIsCalledFromInsideSubmit) {
    std::size_t before = 0;
    std::size_t after = 0;
    main_->on_loop([&] {
        before = main_->journal().size();
        main_->send("good", request::get(base()));
        main_->send("bad", request::get("relative"));
        after = main_->journal().size();
    });
    EXPECT_EQ(before, after);
    EXPECT_TRUE(main_->wait_for("good:ok"));
    EXPECT_TRUE(main_->wait_for("bad:bad_arguments"));
}

TEST_P(SessionContract, AnswersComeInTheOrderOfTheRequests) {
    std::vector<std::string> expected;
    main_->on_loop([&] {
        for (int i = 0; i < 30; ++i) {
            main_->send(number(3 * i), create(at("n-"), ephemeral_numbered));
            main_->send(number(3 * i + 1), request::get(base()));
            main_->send(number(3 * i + 2), request::sync(base()));
        }
    });
    for (int i = 0; i < 90; ++i) {
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
            main_->send("c" + number(int(i)), create(at("n-"), ephemeral_numbered));
            main_->send("l" + number(int(i)), request::children(base()));
        }
    });
    ASSERT_TRUE(main_->wait_for("l" + number(rounds - 1) + ":ok"));
    for (std::size_t i = 0; i < rounds; ++i) {
        EXPECT_EQ(main_->answer("l" + number(int(i)))->names.size(), i + 1)
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
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(main_->ask(create(at(number(i)))).ok());
        other->on_loop([&] {
            other->send("write", request::multi({request::check(base())}));
            other->send("get" + number(i), request::get(at(number(i))));
        });
        EXPECT_TRUE(other->wait_for("get" + number(i) + ":ok"));
    }
}

TEST_P(SessionContract, WhatIsLostWithTheConnectionCompletesOnceAndAfterSuspended) {
    constexpr int count = 50;
    main_->on_loop([&] {
        for (int i = 0; i < count; ++i) {
            main_->send("r" + number(i), create(at("n-"), ephemeral_numbered));
        }
        main_->reconnect();
    });
    const auto answered = [&] { return main_->entries("r").size() >= count; };
    ASSERT_TRUE(wait(answered));
    ASSERT_TRUE(main_->wait_for("connected", 2));
    EXPECT_TRUE(main_->ask(request::get(base())).ok()) << "lost ones would have come by now";
    EXPECT_EQ(main_->entries("r").size(), count);
    const std::vector<std::string> all = main_->journal();
    const auto suspended = std::find(all.begin(), all.end(), "suspended");
    for (int i = 0; i < count; ++i) {
        const std::string label = "r" + number(i);
        EXPECT_EQ(main_->entries(label + ":").size(), 1U);
        const result_code code = main_->answer(label)->code;
        EXPECT_TRUE(code == result_code::ok || outcome_unknown(code));
        const bool before =
            std::find(all.begin(), suspended, label + ":" + text_of(code)) != suspended;
        EXPECT_EQ(before, code == result_code::ok) << label;
    }
}

TEST_P(SessionContract, AReconnectKeepsTheSessionAndItsEphemerals) {
    main_->ask(create(at("e"), ephemeral));
    const std::int64_t id = main_->id();
    main_->on_loop([&] { main_->reconnect(); });
    ASSERT_TRUE(main_->wait_for("suspended"));
    ASSERT_TRUE(main_->wait_for("connected", 2));
    EXPECT_EQ(main_->id(), id);
    EXPECT_EQ(main_->ask(request::exists(at("e"))).stat.ephemeral_owner, id);
}

TEST_P(SessionContract, ABrokenConnectionIsToldAndReplaced) {
    const std::int64_t id = main_->id();
    main_->cut_off();
    ASSERT_TRUE(main_->wait_for("suspended"));
    main_->let_back();
    ASSERT_TRUE(main_->wait_for("connected", 2));
    EXPECT_EQ(main_->id(), id);
    EXPECT_EQ(main_->count("expired"), 0U);
}

TEST_P(SessionContract, ARequestWithoutAConnectionIsSentLaterOrFails) {
    main_->cut_off();
    ASSERT_TRUE(main_->wait_for("suspended"));
    main_->on_loop([&] { main_->send("r", request::get(base())); });
    main_->let_back();
    ASSERT_TRUE(main_->wait_for("connected", 2));
    ASSERT_TRUE(wait([&] { return main_->answer("r").has_value(); }));
    const result_code code = main_->answer("r")->code;
    EXPECT_TRUE(code == result_code::ok || code == result_code::connection_loss ||
                code == result_code::operation_timeout);
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
    EXPECT_EQ(idle.journal(), std::vector<std::string>{"connected"});
}

TEST_P(SessionContract, ExpiryTakesTheEphemeralsTogether) {
    const auto other = another();
    main_->ask(create(at("d")));
    main_->ask(create(at("d/p")));
    main_->ask(create(at("d/e1"), ephemeral));
    main_->ask(create(at("d/e2"), ephemeral));
    main_->expire();
    ASSERT_TRUE(wait([&] { return gone(*other, at("d/e1")); }));
    EXPECT_THAT(other->ask(request::children(at("d"))).names, ElementsAre("p"));
    EXPECT_TRUE(main_->wait_for("expired"));
}

TEST_P(SessionContract, AfterExpiryEverythingCompletesWithThat) {
    main_->expire();
    ASSERT_TRUE(main_->wait_for("expired"));
    EXPECT_EQ(main_->ask(request::get(base())).code, result_code::session_expired);
    EXPECT_EQ(main_->ask(create(at("a"))).code, result_code::session_expired);
    main_->on_loop([&] { main_->close(); });
    EXPECT_TRUE(main_->wait_for("closed"));
    EXPECT_EQ(main_->count("expired"), 1U);
}

TEST_P(SessionContract, ANewSessionAfterExpiryIsAnotherOne) {
    const std::int64_t id = main_->id();
    main_->expire();
    ASSERT_TRUE(main_->wait_for("expired"));
    const auto next = another();
    EXPECT_NE(next->id(), id);
    EXPECT_TRUE(next->ask(request::get(base())).ok());
}

TEST_P(SessionContract, CloseTakesTheEphemeralsAtOnce) {
    auto brief = another();
    brief->ask(create(at("e"), ephemeral));
    brief->on_loop([&] { brief->close(); });
    ASSERT_TRUE(brief->wait_for("closed"));
    EXPECT_TRUE(gone(*main_, at("e")));
}

TEST_P(SessionContract, CloseCompletesWhatIsInFlightAndTellsItsEndLast) {
    main_->on_loop([&] {
        for (int i = 0; i < 10; ++i) {
            main_->send("r" + number(i), create(at("n-"), ephemeral_numbered));
        }
        main_->close();
        main_->send("late", request::get(base()));
    });
    ASSERT_TRUE(main_->wait_for("closed"));
    ASSERT_TRUE(wait([&] { return main_->answer("late").has_value(); }));
    EXPECT_EQ(main_->answer("late")->code, result_code::closing);
    for (int i = 0; i < 10; ++i) {
        EXPECT_THAT(main_->entries("r" + number(i) + ":"),
                    ElementsAre("r" + number(i) + ":closing"));
    }
    const std::vector<std::string> all = main_->journal();
    const auto closed = std::find(all.begin(), all.end(), "closed");
    for (auto entry = closed; entry != all.end(); ++entry) {
        EXPECT_FALSE(entry->starts_with("r")) << "told after the end";
    }
    EXPECT_EQ(std::count(all.begin(), all.end(), "suspended"), 0);
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
    EXPECT_EQ(s->entries("r:").size(), 1U);
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
    EXPECT_EQ(brief->journal().size(), told);
}

TEST_P(SessionContract, ACompletionMayDestroyTheSessionOrSubmitMore) {
    auto s = another();
    const auto more = std::make_shared<bool>(false);
    s->on_loop([&] { s->send("first", request::get(base())); });
    ASSERT_TRUE(s->wait_for("first:ok"));
    const auto w = make_watcher([&, more](watch_event) {
        *more = true;
        s->send("from-watch", request::get(base()));
    });
    s->ask(request::children(base()), w);
    main_->ask(create(at("a")));
    EXPECT_TRUE(s->wait_for("from-watch:ok"));
    EXPECT_TRUE(*more);
    auto ending = make_watcher([&](watch_event) { s->destroy_here(); });
    s->ask(request::children(base()), ending);
    main_->ask(create(at("b")));
    EXPECT_TRUE(wait([&] { return s->destroyed(); }));
}

}  // namespace
}  // namespace latchkey::test
