#include "session_contract.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_P(SessionContract, ACreatedZnodeHoldsItsData) {
    const reply made = main_->ask(create(at("a"), plain, "data"));
    EXPECT_EQ(made.code, result_code::ok);
    EXPECT_EQ(made.path, at("a"));
    const reply got = main_->ask(request::get(at("a")));
    EXPECT_EQ(got.code, result_code::ok);
    EXPECT_EQ(got.data, "data");
}

TEST_P(SessionContract, DataMayBeEmptyOrAnyBytes) {
    const std::string bytes("a\0b\xff\x01", 5);
    main_->ask(create(at("bytes"), plain, bytes));
    main_->ask(create(at("empty")));
    EXPECT_EQ(main_->ask(request::get(at("bytes"))).data, bytes);
    const reply empty = main_->ask(request::get(at("empty")));
    EXPECT_TRUE(empty.ok());
    EXPECT_EQ(empty.data, "");
    EXPECT_EQ(empty.stat.data_length, 0);
}

TEST_P(SessionContract, SequenceNumbersHaveTenDigitsAndBeginAtZero) {
    EXPECT_EQ(main_->ask(create(at("n-"), numbered)).path, at("n-0000000000"));
    EXPECT_EQ(main_->ask(create(at("n-"), numbered)).path, at("n-0000000001"));
}

TEST_P(SessionContract, ASequentialPathMayEndInASlash) {
    EXPECT_EQ(main_->ask(create(base() + "/", numbered)).path, at("0000000000"));
}

TEST_P(SessionContract, TheSequenceCountsPlainCreatesToo) {
    main_->ask(create(at("n-"), numbered));
    main_->ask(create(at("x")));
    main_->ask(create(at("y"), ephemeral));
    EXPECT_EQ(main_->ask(create(at("n-"), numbered)).path, at("n-0000000003"));
}

TEST_P(SessionContract, TheSequenceCountsCreatesInTransactions) {
    main_->ask(request::multi({create(at("x")), create(at("y"), ephemeral)}));
    main_->ask(request::multi({create(at("z")), request::check(at("none"))}));
    EXPECT_EQ(main_->ask(create(at("n-"), numbered)).path, at("n-0000000002"));
}

TEST_P(SessionContract, TheSequenceDoesNotCountFailedCreates) {
    main_->ask(create(at("x")));
    EXPECT_EQ(main_->ask(create(at("x"))).code, result_code::node_exists);
    EXPECT_EQ(main_->ask(create(at("y/z"))).code, result_code::no_node);
    EXPECT_EQ(main_->ask(create(at("n-"), numbered)).path, at("n-0000000001"));
}

TEST_P(SessionContract, RemovalsDoNotTurnTheSequenceBack) {
    const std::string first = main_->ask(create(at("n-"), numbered)).path;
    EXPECT_TRUE(main_->ask(request::remove(first)).ok());
    EXPECT_EQ(main_->ask(create(at("n-"), numbered)).path, at("n-0000000001"));
}

TEST_P(SessionContract, EveryDirectoryHasItsOwnSequence) {
    main_->ask(create(at("d")));
    main_->ask(create(at("e")));
    EXPECT_EQ(main_->ask(create(at("d/n"), numbered)).path, at("d/n0000000000"));
    EXPECT_EQ(main_->ask(create(at("e/n"), numbered)).path, at("e/n0000000000"));
}

TEST_P(SessionContract, ACreateBringsTheStat) {
    const reply made = main_->ask(create(at("a"), ephemeral, "12345"));
    EXPECT_NE(made.stat.czxid, 0);
    EXPECT_EQ(made.stat.mzxid, made.stat.czxid);
    EXPECT_EQ(made.stat.ephemeral_owner, main_->id());
    EXPECT_EQ(made.stat.version, 0);
    EXPECT_EQ(made.stat.cversion, 0);
    EXPECT_EQ(made.stat.data_length, 5);
    EXPECT_EQ(made.stat.num_children, 0);
    EXPECT_EQ(main_->ask(request::get(at("a"))).stat.czxid, made.stat.czxid);
    EXPECT_GT(made.stat.ctime, 0);
    EXPECT_EQ(made.stat.mtime, made.stat.ctime);
    EXPECT_EQ(main_->ask(request::get(at("a"))).stat.ctime, made.stat.ctime);
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

TEST_P(SessionContract, CreateRefusesWhatIsThereAndWhatHasNoParent) {
    main_->ask(create(at("a")));
    EXPECT_EQ(main_->ask(create(at("a"))).code, result_code::node_exists);
    EXPECT_EQ(main_->ask(create(at("b/c"))).code, result_code::no_node);
}

TEST_P(SessionContract, AnEphemeralZnodeHasNoChildren) {
    main_->ask(create(at("e"), ephemeral));
    EXPECT_EQ(main_->ask(create(at("e/c"))).code, result_code::no_children_for_ephemerals);
    EXPECT_EQ(main_->ask(create(at("e/n"), numbered)).code,
              result_code::no_children_for_ephemerals);
}

TEST_P(SessionContract, AContainerIsADirectory) {
    const reply made = main_->ask(create(at("c"), create_mode::container));
    EXPECT_EQ(made.code, result_code::ok);
    EXPECT_EQ(made.stat.ephemeral_owner, 0);
    EXPECT_EQ(main_->ask(request::exists(at("c"))).stat.ephemeral_owner, 0);
    EXPECT_EQ(main_->ask(create(at("c/x"), ephemeral)).code, result_code::ok);
    EXPECT_EQ(main_->ask(create(at("c"), create_mode::container)).code, result_code::node_exists);
}

TEST_P(SessionContract, SetRaisesTheVersionAndMzxidOnly) {
    const server_stat before = main_->ask(create(at("a"), plain, "old")).stat;
    const reply set = main_->ask(request::set(at("a"), "newer"));
    EXPECT_EQ(set.code, result_code::ok);
    EXPECT_EQ(set.stat.version, 1);
    EXPECT_EQ(set.stat.czxid, before.czxid);
    EXPECT_GT(set.stat.mzxid, before.mzxid);
    EXPECT_EQ(set.stat.data_length, 5);
    EXPECT_EQ(main_->ask(request::get(at("a"))).data, "newer");
}

TEST_P(SessionContract, SetWithAnotherVersionChangesNothing) {
    main_->ask(create(at("a"), plain, "old"));
    EXPECT_EQ(main_->ask(request::set(at("a"), "new", 1)).code, result_code::bad_version);
    EXPECT_EQ(main_->ask(request::get(at("a"))).data, "old");
    EXPECT_EQ(main_->ask(request::set(at("a"), "new", 0)).code, result_code::ok);
}

TEST_P(SessionContract, WhatIsNotThereCannotBeReadOrChanged) {
    for (const request& r : {request::get(at("no")),
                             request::exists(at("no")),
                             request::children(at("no")),
                             request::set(at("no"), ""),
                             request::remove(at("no")),
                             request::remove(at("no/child"))}) {
        EXPECT_EQ(main_->ask(r).code, result_code::no_node);
    }
}

TEST_P(SessionContract, ChildrenAreNames) {
    EXPECT_THAT(main_->ask(request::children(base())).names, IsEmpty());
    main_->ask(create(at("a")));
    main_->ask(create(at("b")));
    main_->ask(create(at("b/c")));
    EXPECT_THAT(main_->ask(request::children(base())).names, UnorderedElementsAre("a", "b"));
}

TEST_P(SessionContract, ChangesOfChildrenAreCounted) {
    main_->ask(create(at("a")));
    main_->ask(create(at("b")));
    main_->ask(request::remove(at("a")));
    const server_stat stat = main_->ask(request::exists(base())).stat;
    EXPECT_EQ(stat.cversion, 3);
    EXPECT_EQ(stat.num_children, 1);
    EXPECT_EQ(stat.version, 0);
}

TEST_P(SessionContract, RemoveTakesTheZnodeAway) {
    main_->ask(create(at("a")));
    EXPECT_EQ(main_->ask(request::remove(at("a"))).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::get(at("a"))).code, result_code::no_node);
    EXPECT_THAT(main_->ask(request::children(base())).names, IsEmpty());
}

TEST_P(SessionContract, RemoveRefusesAnotherVersionAndParents) {
    main_->ask(create(at("a")));
    main_->ask(create(at("a/b")));
    EXPECT_EQ(main_->ask(request::remove(at("a"), 7)).code, result_code::bad_version);
    EXPECT_EQ(main_->ask(request::remove(at("a"))).code, result_code::not_empty);
    EXPECT_EQ(main_->ask(request::remove(at("a/b"), 0)).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::remove(at("a"), 0)).code, result_code::ok);
}

TEST_P(SessionContract, BadPathsAreRefusedAndCostNothingElse) {
    const std::vector<std::string> bad{"",
                                       "relative",
                                       base() + "/",
                                       base() + "//a",
                                       base() + "/./a",
                                       base() + "/..",
                                       base() + "/a\x01",
                                       base() + std::string("/a\0b", 4)};
    for (const std::string& path : bad) {
        EXPECT_EQ(main_->ask(create(path)).code, result_code::bad_arguments) << path;
        EXPECT_EQ(main_->ask(request::get(path)).code, result_code::bad_arguments) << path;
        EXPECT_EQ(main_->ask(request::multi({request::remove(path)})).code,
                  result_code::bad_arguments)
            << path;
    }
    EXPECT_EQ(main_->count("suspended"), 0U);
    EXPECT_THAT(main_->ask(request::children(base())).names, IsEmpty());
}

TEST_P(SessionContract, CharactersThatTheServersRefuseAreRefused) {
    for (const char* const name : {"\xc2\x80", "\xee\x80\x80", "\xef\xbf\xbf", "\x7f"}) {
        EXPECT_EQ(main_->ask(create(at(name))).code, result_code::bad_arguments)
            << ::testing::PrintToString(name);
    }
    EXPECT_EQ(main_->ask(create(at("\xc3\xa4\xe2\x82\xac"))).code, result_code::ok);
}

TEST_P(SessionContract, AnOversizedRequestIsRefusedAndCostsNothingElse) {
    EXPECT_EQ(main_->ask(create(at("a"), plain, std::string(2'000'000, 'x'))).code,
              result_code::bad_arguments);
    EXPECT_EQ(main_->count("suspended"), 0U);
    const std::string large(990'000, 'x');
    EXPECT_EQ(main_->ask(create(at("b"), plain, large)).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::get(at("b"))).data, large);
}

}  // namespace
}  // namespace latchkey::test
