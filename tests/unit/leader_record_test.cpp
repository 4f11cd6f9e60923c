#include "leader/leader_record.hpp"

#include "queue/znode_names.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

const leader_record example{.id = "host:17",
                            .data = "tcp://10.0.0.7:4000",
                            .znode = "_c_0123-latch-0000000007",
                            .token = 4294967330,
                            .is = leader_record::state::leading};

bool can_be_read(const leader_record& r) {
    return read_leader_record(write_leader_record(r)).has_value();
}

TEST(LeaderRecord, IsReadAsItWasWritten) {
    leader_record other = example;
    other.token = 0;
    other.is = leader_record::state::clean;
    other.data = "\"\\\n\x01 \xe2\x98\x83";
    other.turn = 3;
    other.version = -7;
    other.successor = "_c_4567-latch-0000000007";
    for (const leader_record& r : {example, other}) {
        const std::string written = write_leader_record(r);
        EXPECT_EQ(read_leader_record(written), r);
        EXPECT_EQ(write_leader_record(leader_record(r)), written) << "the same text";
        EXPECT_EQ(written.find('\n'), std::string::npos);
    }
}

TEST(LeaderRecord, NamesASuccessorOnlyOfOneWhoHasGivenUp) {
    leader_record r = example;
    r.successor = "_c_4567-latch-0000000007";
    EXPECT_FALSE(can_be_read(r));
}

TEST(LeaderRecord, TakesItsTokenFromTheWriteThatCouldNotKnowIt) {
    leader_record r = example;
    EXPECT_EQ(token_of(r, 99).zxid, 4294967330);
    r.token = 0;
    EXPECT_EQ(token_of(r, 99).zxid, 99);
}

TEST(LeaderRecord, GivesTheOneThatItNamesTheNextTurn) {
    leader_record r = example;
    r.is = leader_record::state::clean;
    r.successor = "_c_4567-latch-0000000007";
    r.turn = 5;
    EXPECT_EQ(token_of_successor(r, r.successor), (fencing_token{r.token, 6}));
    EXPECT_EQ(token_of_successor(r, r.znode), std::nullopt);
    r.turn = fencing_token::turns - 1;
    EXPECT_EQ(token_of_successor(r, r.successor), std::nullopt) << "no turn is left";
    r.turn = 0;
    r.token = 0;
    EXPECT_EQ(token_of_successor(r, r.successor), std::nullopt);
}

TEST(LeaderRecord, FitsItsLimitHoweverMuchMustBeEscaped) {
    leader_record r = example;
    r.id.assign(longest_leader_id, '\x01');
    r.data.assign(longest_leader_data, '\x02');
    const std::string text = write_leader_record(r);
    EXPECT_LE(text.size(), longest_leader_record);
    EXPECT_EQ(read_leader_record(text), r);
}

TEST(LeaderRecord, IgnoresFieldsThatItDoesNotKnow) {
    std::string text = write_leader_record(example);
    text.insert(1, R"("later":{"nested":[1,2]},"list":[[[]]],"number":1.5,)");
    EXPECT_EQ(read_leader_record(text), example);
}

TEST(LeaderRecord, RefusesWhatIsNone) {
    const std::string whole = write_leader_record(example);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        EXPECT_FALSE(read_leader_record(whole.substr(0, cut))) << cut;
    }
    for (
        const char* text : {
            "null",
            "[]",
            "17",
            "{}",
            R"({"leader":1,"znode":"a","state":"leading","data":""})",
            R"({"leader":"a","znode":"b","state":"leading"})",
            R"({"leader":"a","znode":"b","state":"resting","data":""})",
            R"({"leader":"a","znode":"b/c","state":"leading","data":""})",
            R"({"leader":"a","znode":"b","state":"clean","data":"","successor":7})",
            R"({"leader":"a","znode":"b","state":"leading","data":"","token":-1})",
            R"({"leader":"a","znode":"b","state":"leading","data":"","token":1.5})",
            R"({"leader":"a","znode":"b","state":"leading","data":"","token":"1"})",
            R"({"leader":"a","znode":"b","state":"leading","data":"","token":9223372036854775808})",
            R"({"leader":"a","znode":"b","state":"leading","data":"","turn":1024})",
            R"({"leader":"a","znode":"b","state":"leading","data":"","turn":"1"})",
            R"({"leader":"a","znode":"b","state":"leading","data":"","version":4294967296})",
            R"({"host":"a","pid":1,"user":"b","program":"c","mode":"exclusive","since":1})",
        }) {
        EXPECT_FALSE(read_leader_record(text)) << text;
        EXPECT_FALSE(may_become_record(text)) << text;
    }
}

TEST(LeaderRecord, RefusesFieldsAndRecordsThatAreTooLong) {
    leader_record long_id = example;
    long_id.id.assign(longest_leader_id + 1, 'a');
    EXPECT_FALSE(can_be_read(long_id));
    leader_record long_data = example;
    long_data.data.assign(longest_leader_data + 1, 'a');
    EXPECT_FALSE(can_be_read(long_data));
    const std::string padding(longest_leader_record, ' ');
    EXPECT_FALSE(read_leader_record(write_leader_record(example) + padding));
}

TEST(LeaderRecord, DoesNotFollowDeepNesting) {
    std::string deep(longest_leader_record / 2, '[');
    EXPECT_FALSE(read_leader_record(deep));
    deep += std::string(deep.size(), ']');
    EXPECT_FALSE(read_leader_record(deep));
}

TEST(LeaderRecord, MayReplaceNothingAndItsLike) {
    EXPECT_TRUE(may_become_record(""));
    EXPECT_TRUE(may_become_record(write_leader_record(example)));
    EXPECT_TRUE(may_become_record(front_mark("_c_1-lock-0000000001")))
        << "mutexes on the same path";
    EXPECT_FALSE(may_become_record("10.0.0.7"));
    EXPECT_FALSE(may_become_record(" "));
}

const std::string marked_znode = "_c_01234567-89ab-4def-8123-456789abcdef-lock-0000000017";

TEST(FrontMark, IsReadAsItWasWritten) {
    EXPECT_EQ(named_by_front_mark(front_mark(marked_znode)), marked_znode);
    EXPECT_EQ(front_mark(marked_znode), "latchkey-first " + marked_znode);
}

TEST(FrontMark, IsNoDataOfAnotherProgram) {
    const std::string whole = front_mark(marked_znode);
    for (const std::string& data :
         std::vector<std::string>{"",
                                  "10.0.0.7",
                                  marked_znode,
                                  "latchkey-first ",
                                  "latchkey-first of all",
                                  "latchkey-first lock-17",
                                  ' ' + whole,
                                  whole + '\n',
                                  front_mark("_c_0-lock--000000001"),
                                  front_mark(std::string(1000, 'x') + marked_znode)}) {
        EXPECT_EQ(named_by_front_mark(data), "") << data;
    }
}

TEST(FrontMark, TellsTwoAttemptsOfOneNumberApart) {
    const std::string other = "_c_11234567-89ab-4def-8123-456789abcdef-lock-0000000017";
    EXPECT_NE(named_by_front_mark(front_mark(other)), marked_znode);
}

}  // namespace
}  // namespace latchkey
