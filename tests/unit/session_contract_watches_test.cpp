#include "session_contract.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(SessionContract, WatchesTellOfTheNextChange) {
    expect_kept({
        {"ADataWatchSeesAChange", "create a; watch a by w; eve: set a=new; told by w -> changed"},
        {"ADataWatchSeesTheDeletion",
         "create a; watch a by w; eve: remove a; told by w -> deleted"},
        {"ADataWatchDoesNotSeeChildren",
         "create a; watch a by w; create a/b; remove a/b; told by w -> nothing; "
         "remove a; told by w -> deleted"},
        {"AChildWatchSeesCreationsRemovalsAndTheEnd",
         "create d; watch-list d by w; create d/a; told by w -> children; "
         "watch-list d by w; remove d/a; told by w -> children children; "
         "watch-list d by w; remove d; told by w -> children children deleted"},
        {"AChildWatchSeesNeitherDataNorGrandchildren",
         "create d; create d/a; watch-list d by w; set d=new; set d/a=new; create d/a/b; "
         "told by w -> nothing"},
        {"AWatchIsCalledOnce",
         "create a; watch a by w; set a=1; set a=2; remove a; told by w -> changed"},
        {"AllWatchersOfOneZnodeAreCalled",
         "create a; watch a by w1; watch a by w2; set a=new; "
         "told by w1 -> changed; told by w2 -> changed"},
        {"DataAndChildWatchersOfOneZnodeBothLearnItsEnd",
         "create a; watch a by w1; watch-list a by w2; remove a; "
         "told by w1 -> deleted; told by w2 -> deleted"},
        {"OneWatcherMayWatchManyZnodes",
         "create a; create b; watch a by w; watch b by w; remove a; set b; "
         "told by w -> deleted changed"},
        {"AWatcherThatIsGoneIsNotCalled",
         "create a; watch a by w1; watch a by w2; drop by w1; set a=new; "
         "told by w2 -> changed; told by w1 -> nothing"},
        {"AFailedRequestSetsNoWatch",
         "watch a by w -> no_node; watch-list a by w -> no_node; "
         "create a; create a/b; remove a/b; remove a; told by w -> nothing"},
        {"AWatchThatIsSetAgainAfterAReconnectIsCalledOnce",
         "create a; watch a by w; break; watch a by w; set a=new; remove a; told by w -> changed"},
    });
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

}  // namespace
}  // namespace latchkey::test
