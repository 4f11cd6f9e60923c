#include "session_contract.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<result_code> codes(const reply& r) {
    std::vector<result_code> all;
    for (const reply& result : r.results) {
        all.push_back(result.code);
    }
    return all;
}

TEST_P(SessionContract, AMultiIsOneTransaction) {
    main_->ask(create(at("old")));
    const reply done = main_->ask(request::multi({create(at("a")),
                                                  create(at("b"), ephemeral, "data"),
                                                  request::set(at("a"), "set"),
                                                  request::remove(at("old")),
                                                  request::check(at("b"))}));
    ASSERT_EQ(done.code, result_code::ok);
    EXPECT_THAT(codes(done), ::testing::Each(result_code::ok));
    EXPECT_EQ(done.results.size(), 5U);
    const reply a = main_->ask(request::get(at("a")));
    const reply b = main_->ask(request::get(at("b")));
    EXPECT_EQ(a.data, "set");
    EXPECT_EQ(b.data, "data");
    EXPECT_EQ(a.stat.czxid, b.stat.czxid);
    EXPECT_EQ(a.stat.mzxid, a.stat.czxid);
    EXPECT_THAT(main_->ask(request::children(base())).names, UnorderedElementsAre("a", "b"));
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

TEST_P(SessionContract, AMultiDoesAllOrNothingAndTellsWhichRefused) {
    main_->ask(create(at("a"), plain, "old"));
    const reply refused = main_->ask(request::multi({request::set(at("a"), "new"),
                                                     create(at("b")),
                                                     request::check(at("a"), 7),
                                                     request::remove(at("a")),
                                                     create(at("c"))}));
    EXPECT_EQ(refused.code, result_code::bad_version);
    EXPECT_THAT(codes(refused),
                ElementsAre(result_code::ok,
                            result_code::ok,
                            result_code::bad_version,
                            result_code::runtime_inconsistency,
                            result_code::runtime_inconsistency));
    const reply a = main_->ask(request::get(at("a")));
    EXPECT_EQ(a.data, "old");
    EXPECT_EQ(a.stat.version, 0);
    EXPECT_THAT(main_->ask(request::children(base())).names, ElementsAre("a"));
}

TEST_P(SessionContract, AFailedMultiLeavesNoTrace) {
    main_->ask(create(at("full")));
    main_->ask(create(at("full/child")));
    const server_stat before = main_->ask(request::exists(base())).stat;
    const reply refused = main_->ask(request::multi({create(at("n-"), numbered),
                                                     create(at("e"), ephemeral),
                                                     create(at("x")),
                                                     request::remove(at("x")),
                                                     request::remove(at("full"))}));
    EXPECT_EQ(refused.code, result_code::not_empty);
    const server_stat after = main_->ask(request::exists(base())).stat;
    EXPECT_EQ(after.cversion, before.cversion);
    EXPECT_EQ(main_->ask(create(at("n-"), numbered)).path, at("n-0000000001"));
}

TEST_P(SessionContract, ALaterOperationOfAMultiSeesTheEarlierOnes) {
    EXPECT_EQ(main_
                  ->ask(request::multi({create(at("a")),
                                        create(at("a/b")),
                                        request::set(at("a"), "x", 0),
                                        request::check(at("a"), 1),
                                        request::remove(at("a/b")),
                                        request::remove(at("a"), 1)}))
                  .code,
              result_code::ok);
    EXPECT_TRUE(gone(*main_, at("a")));
}

TEST_P(SessionContract, AMultiOfOneCheckChangesNothingAndProvesTheZnode) {
    main_->ask(create(at("own"), ephemeral));
    const server_stat before = main_->ask(request::exists(at("own"))).stat;
    EXPECT_EQ(main_->ask(request::multi({request::check(at("own"))})).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::exists(at("own"))).stat.mzxid, before.mzxid);
    main_->ask(request::remove(at("own")));
    EXPECT_EQ(main_->ask(request::multi({request::check(at("own"))})).code, result_code::no_node);
}

}  // namespace
}  // namespace latchkey::test
