#include "session_contract.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_P(SessionContract, ADataWatchSeesAChange) {
    main_->ask(create(at("a")));
    const auto w = main_->watcher("w");
    main_->ask(request::get(at("a")), w);
    another()->ask(request::set(at("a"), "new"));
    EXPECT_TRUE(main_->wait_for("w:changed"));
}

TEST_P(SessionContract, ADataWatchSeesTheDeletion) {
    main_->ask(create(at("a")));
    const auto w = main_->watcher("w");
    main_->ask(request::get(at("a")), w);
    another()->ask(request::remove(at("a")));
    EXPECT_TRUE(main_->wait_for("w:deleted"));
}

TEST_P(SessionContract, ADataWatchDoesNotSeeChildren) {
    main_->ask(create(at("a")));
    const auto w = main_->watcher("w");
    main_->ask(request::get(at("a")), w);
    main_->ask(create(at("a/b")));
    main_->ask(request::remove(at("a/b")));
    EXPECT_THAT(main_->entries("w:"), IsEmpty());
    main_->ask(request::remove(at("a")));
    EXPECT_THAT(main_->entries("w:"), ElementsAre("w:deleted"));
}

TEST_P(SessionContract, AChildWatchSeesCreationsRemovalsAndTheEnd) {
    main_->ask(create(at("d")));
    const auto w = main_->watcher("w");
    main_->ask(request::children(at("d")), w);
    main_->ask(create(at("d/a")));
    EXPECT_EQ(main_->count("w:children"), 1U);
    main_->ask(request::children(at("d")), w);
    main_->ask(request::remove(at("d/a")));
    EXPECT_EQ(main_->count("w:children"), 2U);
    main_->ask(request::children(at("d")), w);
    main_->ask(request::remove(at("d")));
    EXPECT_THAT(main_->entries("w:"), ElementsAre("w:children", "w:children", "w:deleted"));
}

TEST_P(SessionContract, AChildWatchSeesNeitherDataNorGrandchildren) {
    main_->ask(create(at("d")));
    main_->ask(create(at("d/a")));
    const auto w = main_->watcher("w");
    main_->ask(request::children(at("d")), w);
    main_->ask(request::set(at("d"), "new"));
    main_->ask(request::set(at("d/a"), "new"));
    main_->ask(create(at("d/a/b")));
    EXPECT_THAT(main_->entries("w:"), IsEmpty());
}

TEST_P(SessionContract, AWatchIsCalledOnce) {
    main_->ask(create(at("a")));
    const auto w = main_->watcher("w");
    main_->ask(request::get(at("a")), w);
    main_->ask(request::set(at("a"), "1"));
    main_->ask(request::set(at("a"), "2"));
    main_->ask(request::remove(at("a")));
    EXPECT_THAT(main_->entries("w:"), ElementsAre("w:changed"));
}

TEST_P(SessionContract, AllWatchersOfOneZnodeAreCalled) {
    main_->ask(create(at("a")));
    const auto first = main_->watcher("w1");
    const auto second = main_->watcher("w2");
    main_->ask(request::get(at("a")), first);
    main_->ask(request::get(at("a")), second);
    main_->ask(request::set(at("a"), "new"));
    EXPECT_THAT(main_->entries("w"), UnorderedElementsAre("w1:changed", "w2:changed"));
}

TEST_P(SessionContract, DataAndChildWatchersOfOneZnodeBothLearnItsEnd) {
    main_->ask(create(at("a")));
    const auto data = main_->watcher("w1");
    const auto children = main_->watcher("w2");
    main_->ask(request::get(at("a")), data);
    main_->ask(request::children(at("a")), children);
    main_->ask(request::remove(at("a")));
    EXPECT_THAT(main_->entries("w"), UnorderedElementsAre("w1:deleted", "w2:deleted"));
}

TEST_P(SessionContract, OneWatcherMayWatchManyZnodes) {
    const auto w = main_->watcher("w");
    for (const char* const name : {"a", "b"}) {
        main_->ask(create(at(name)));
        main_->ask(request::get(at(name)), w);
    }
    main_->ask(request::remove(at("a")));
    main_->ask(request::set(at("b"), ""));
    EXPECT_THAT(main_->entries("w:"), ElementsAre("w:deleted", "w:changed"));
}

TEST_P(SessionContract, AWatcherThatIsGoneIsNotCalled) {
    main_->ask(create(at("a")));
    auto dropped = main_->watcher("w1");
    const auto kept = main_->watcher("w2");
    main_->ask(request::get(at("a")), dropped);
    main_->ask(request::get(at("a")), kept);
    main_->on_loop([&] { dropped = nullptr; });
    main_->ask(request::set(at("a"), "new"));
    EXPECT_THAT(main_->entries("w"), ElementsAre("w2:changed"));
}

TEST_P(SessionContract, AFailedRequestSetsNoWatch) {
    const auto w = main_->watcher("w");
    EXPECT_EQ(main_->ask(request::get(at("a")), w).code, result_code::no_node);
    EXPECT_EQ(main_->ask(request::children(at("a")), w).code, result_code::no_node);
    main_->ask(create(at("a")));
    main_->ask(create(at("a/b")));
    main_->ask(request::remove(at("a/b")));
    main_->ask(request::remove(at("a")));
    EXPECT_THAT(main_->entries("w:"), IsEmpty());
}

TEST_P(SessionContract, AnEventComesBeforeTheAnswerOfTheOwnChangeThatCausedIt) {
    main_->ask(create(at("a")));
    const auto w = main_->watcher("w");
    main_->ask(request::get(at("a")), w);
    main_->on_loop([&] {
        main_->send("set", request::set(at("a"), "new"));
        main_->send("get", request::get(at("a")));
    });
    ASSERT_TRUE(main_->wait_for("get:ok"));
    const std::vector<std::string> all = main_->journal();
    EXPECT_THAT(std::vector<std::string>(all.end() - 3, all.end()),
                ElementsAre("w:changed", "set:ok", "get:ok"));
}

TEST_P(SessionContract, TheEndOfADirectoryComesBeforeTheAnswerToACreateInTheNextOne) {
    main_->ask(create(at("d")));
    const auto w = main_->watcher("w");
    main_->ask(request::get(at("d")), w);
    const auto other = another();
    other->ask(request::remove(at("d")));
    other->ask(create(at("d")));
    EXPECT_EQ(main_->ask(create(at("d/n"), numbered)).path, at("d/n0000000000"));
    EXPECT_EQ(main_->count("w:deleted"), 1U);
}

TEST_P(SessionContract, AnEventComesBeforeAnyAnswerThatShowsTheChange) {
    main_->ask(create(at("a")));
    const auto w = main_->watcher("w");
    main_->ask(request::get(at("a")), w);
    const auto other = another();
    other->on_loop([&] { other->send("remove", request::remove(at("a"))); });
    // Ask until the change shows; by then the event must have been told.
    for (int i = 0; main_->ask(request::exists(at("a"))).ok(); ++i) {
        ASSERT_LT(i, 100'000);
    }
    EXPECT_EQ(main_->count("w:deleted"), 1U);
}

TEST_P(SessionContract, AConnectionStartsWithoutWatches) {
    const auto data = main_->watcher("w-data");
    const auto children = main_->watcher("w-children");
    main_->ask(create(at("a")));
    main_->ask(request::get(at("a")), data);
    main_->ask(request::children(at("a")), children);
    main_->cut_off();
    ASSERT_TRUE(main_->wait_for("suspended"));
    another()->ask(create(at("a/b")));
    main_->let_back();
    ASSERT_TRUE(main_->wait_for("connected", 2));
    main_->ask(request::set(at("a"), "new"));
    main_->ask(request::remove(at("a/b")));
    main_->ask(request::remove(at("a")));
    EXPECT_THAT(main_->entries("w-"), IsEmpty());
}

TEST_P(SessionContract, AWatchThatIsSetAgainAfterAReconnectIsCalledOnce) {
    const auto w = main_->watcher("w");
    main_->ask(create(at("a")));
    main_->ask(request::get(at("a")), w);
    main_->on_loop([&] { main_->reconnect(); });
    ASSERT_TRUE(main_->wait_for("connected", 2));
    main_->ask(request::get(at("a")), w);
    main_->ask(request::set(at("a"), "new"));
    main_->ask(request::remove(at("a")));
    EXPECT_THAT(main_->entries("w:"), ElementsAre("w:changed"));
}

}  // namespace
}  // namespace latchkey::test
