#include "session_contract.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::IsEmpty;

TEST_P(SessionContract, ZnodesAreCreatedReadAndRemoved) {
    expect_kept({
        {"ACreatedZnodeHoldsItsData",
         "create a=data; get a -> data; create empty; get empty -> nothing"},
        {"CreateRefusesWhatIsThereAndWhatHasNoParent",
         "create a; create a -> node_exists; create b/c -> no_node"},
        {"AnEphemeralZnodeHasNoChildren",
         "ephemeral e; create e/c -> no_children_for_ephemerals; "
         "numbered e/n -> no_children_for_ephemerals"},
        {"AContainerIsADirectory",
         "container c; ephemeral c/x; list c -> x; container c -> node_exists"},
        {"SetWithAnotherVersionChangesNothing",
         "create a=old; set a=new@1 -> bad_version; get a -> old; set a=new@0; get a -> new"},
        {"WhatIsNotThereCannotBeReadOrChanged",
         "get no -> no_node; exists no -> no_node; list no -> no_node; set no -> no_node; "
         "remove no -> no_node; remove no/child -> no_node"},
        {"ChildrenAreNames", "list / -> nothing; create a; create b; create b/c; list / -> a b"},
        {"ChangesOfChildrenAreCounted",
         "create a; create b; remove a; "
         "stat / -> version 0 children 1 changes 3"},
        {"RemoveTakesTheZnodeAway", "create a; remove a; get a -> no_node; list / -> nothing"},
        {"RemoveRefusesAnotherVersionAndParents",
         "create a; create a/b; remove a@7 -> bad_version; remove a -> not_empty; "
         "remove a/b@0; remove a@0"},
    });
}

TEST_P(SessionContract, SequencesNumberZnodes) {
    expect_kept({
        {"WithTenDigitsFromZero", "numbered n- -> n-0000000000; numbered n- -> n-0000000001"},
        {"AlsoWithoutAName", "create d; numbered d/ -> d/0000000000"},
        {"CountingPlainCreatesToo",
         "numbered n- -> n-0000000000; create x; ephemeral y; numbered n- -> n-0000000003"},
        {"CountingCreatesInTransactions",
         "create x & ephemeral y; create z & check none -> no_node: ok no_node; "
         "numbered n- -> n-0000000002"},
        {"NotCountingFailedCreates",
         "create x; create x -> node_exists; create y/z -> no_node; "
         "numbered n- -> n-0000000001"},
        {"NotTurnedBackByRemovals",
         "numbered n- -> n-0000000000; remove n-0000000000; numbered n- -> n-0000000001"},
        {"InEachDirectoryByItself",
         "create d; create e; numbered d/n -> d/n0000000000; numbered e/n -> e/n0000000000"},
    });
}

TEST_P(SessionContract, StatsTellWhatWasDone) {
    const reply made = main_->ask(create(at("a"), ephemeral, "12345"));
    EXPECT_NE(made.stat.czxid, 0);
    EXPECT_EQ(made.stat.mzxid, made.stat.czxid);
    EXPECT_EQ(made.stat.ephemeral_owner, main_->id());
    EXPECT_EQ(made.stat.version, 0);
    EXPECT_EQ(made.stat.cversion, 0);
    EXPECT_EQ(made.stat.data_length, 5);
    EXPECT_EQ(made.stat.num_children, 0);
    EXPECT_GT(made.stat.ctime, 0);
    EXPECT_EQ(made.stat.mtime, made.stat.ctime);
    const server_stat read = main_->ask(request::get(at("a"))).stat;
    EXPECT_EQ(read.czxid, made.stat.czxid);
    EXPECT_EQ(read.ctime, made.stat.ctime);

    const reply set = main_->ask(request::set(at("a"), "newest"));
    EXPECT_EQ(set.stat.version, 1);
    EXPECT_EQ(set.stat.czxid, made.stat.czxid);
    EXPECT_GT(set.stat.mzxid, made.stat.mzxid);
    EXPECT_EQ(set.stat.data_length, 6);
    EXPECT_EQ(main_->ask(create(at("c"), create_mode::container)).stat.ephemeral_owner, 0);
    EXPECT_EQ(main_->ask(request::exists(at("c"))).stat.ephemeral_owner, 0);
}

TEST_P(SessionContract, ALaterCreateOfAnySessionHasAGreaterCzxid) {
    const auto other = another();
    std::int64_t last = 0;
    for (int i = 0; i < 5; ++i) {
        for (subject* const s : {main_.get(), other.get()}) {
            const std::int64_t czxid = s->ask(create(at("n"), numbered)).stat.czxid;
            EXPECT_GT(czxid, last);
            last = czxid;
        }
    }
}

TEST_P(SessionContract, BadRequestsAreRefusedAndCostNothingElse) {
    const std::vector<std::string> bad{"",
                                       "relative",
                                       base() + "/",
                                       base() + "//a",
                                       base() + "/./a",
                                       base() + "/..",
                                       base() + "/a\x01",
                                       base() + std::string("/a\0b", 4)};
    for (const std::string& path : bad) {
        for (const request& r :
             {create(path), request::get(path), request::multi({request::remove(path)})}) {
            EXPECT_EQ(main_->ask(r).code, result_code::bad_arguments)
                << ::testing::PrintToString(path);
        }
    }
    for (const request& r : {create(at("\xc2\x80")),
                             create(at("\xee\x80\x80")),
                             create(at("\xef\xbf\xbf")),
                             create(at("\x7f")),
                             create(at("a"), plain, std::string(2'000'000, 'x')),
                             request::multi({create(at("a"), create_mode::container)}),
                             request::multi({})}) {
        EXPECT_EQ(main_->ask(r).code, result_code::bad_arguments)
            << to_string(r.what) << ' ' << ::testing::PrintToString(r.path);
    }
    EXPECT_EQ(main_->ask(request::exists(base()), main_->watcher("w")).code,
              result_code::bad_arguments);
    EXPECT_EQ(main_->count("suspended"), 0U);
    EXPECT_THAT(main_->ask(request::children(base())).names, IsEmpty());
}

TEST_P(SessionContract, NamesAndDataMayHaveAllThatServersTake) {
    EXPECT_EQ(main_->ask(create(at("\xc3\xa4\xe2\x82\xac"))).code, result_code::ok);
    for (const std::string& data : {std::string("a\0b\xff\x01", 5), std::string(990'000, 'x')}) {
        const std::string path = main_->ask(create(at("n-"), numbered, data)).path;
        EXPECT_EQ(main_->ask(request::get(path)).data, data);
    }
}

}  // namespace
}  // namespace latchkey::test
