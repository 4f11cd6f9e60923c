#include "session_contract.hpp"

#include <string>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

TEST_P(SessionContract, TransactionsAreDoneAsAWholeOrNotAtAll) {
    expect_kept({
        {"AllIsDone",
         "create old; create a & ephemeral b=data & set a=set & remove old & check b; "
         "get a -> set; get b -> data; list / -> a b"},
        {"ThePartThatRefusesIsNamedAndNothingIsDone",
         "create a=old; set a=new & create b & check a@7 & remove a & create c -> "
         "bad_version: ok ok bad_version lost lost; "
         "get a -> old; stat a -> version 0 children 0 changes 0; list / -> a"},
        {"AFailedOneLeavesNoTrace",
         "create full; create full/child; numbered n- & ephemeral e & create x & remove x & "
         "remove full -> not_empty: ok ok ok ok not_empty; "
         "stat / -> version 0 children 1 changes 1; numbered n- -> n-0000000001"},
        {"LaterPartsSeeEarlierOnes",
         "create a & create a/b & set a=x@0 & check a@1 & remove a/b & remove a@1; "
         "exists a -> no_node"},
        {"OneCheckProvesTheZnodeAndChangesNothing",
         "ephemeral own; check own; stat own -> version 0 children 0 changes 0; "
         "remove own; check own -> no_node: no_node"},
    });
}

TEST_P(SessionContract, ACreateInAMultiTellsItsNameAndASetItsStat) {
    main_->ask(create(at("s")));
    const reply done =
        main_->ask(request::multi({create(at("n-"), numbered), request::set(at("s"), "abc")}));
    ASSERT_EQ(done.results.size(), 2U);
    EXPECT_EQ(done.results[0].path, at("n-0000000001"));
    EXPECT_EQ(done.results[0].stat.czxid, 0);
    EXPECT_EQ(done.results[1].stat.version, 1);
    EXPECT_EQ(done.results[1].stat.data_length, 3);
    const reply made = main_->ask(request::exists(at("n-0000000001")));
    EXPECT_EQ(done.results[1].stat.mzxid, made.stat.czxid) << "the transaction's number";
    const server_stat before = main_->ask(request::exists(at("s"))).stat;
    EXPECT_TRUE(main_->ask(request::multi({request::check(at("s"))})).ok());
    EXPECT_EQ(main_->ask(request::exists(at("s"))).stat.mzxid, before.mzxid) << "a check is none";
}

TEST_P(SessionContract, AMultiThatIsRefusedTellsWhichOperationItWas) {
    main_->ask(create(at("a")));
    const reply refused = main_->ask(request::multi(
        {request::check(at("a")), request::set(at("a"), "x", 7), request::remove(at("b"))}));
    EXPECT_EQ(refused.refused_operation(), 1U);
    EXPECT_TRUE(refused.refused(1, result_code::bad_version));
    EXPECT_FALSE(refused.refused(0, result_code::bad_version));
    EXPECT_FALSE(refused.refused(1, result_code::no_node));
    const reply done = main_->ask(request::multi({request::check(at("a"))}));
    EXPECT_EQ(done.refused_operation(), std::nullopt);
}

}  // namespace
}  // namespace latchkey::test
