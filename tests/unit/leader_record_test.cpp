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

TEST(LeaderRecord, IsReadAsItWasWritten) {
    EXPECT_EQ(read_leader_record(write_leader_record(example)), example);
    leader_record other = example;
    other.token = 0;
    other.is = leader_record::state::clean;
    other.data = "\"\\\n\x01 \xe2\x98\x83";
    other.successor = "_c_4567-latch-0000000007";
    EXPECT_EQ(read_leader_record(write_leader_record(other)), other);
}

TEST(LeaderRecord, NamesASuccessorOnlyOfOneWhoHasGivenUp) {
    leader_record r = example;
    r.successor = "_c_4567-latch-0000000007";
    EXPECT_FALSE(read_leader_record(write_leader_record(r)));
}

TEST(LeaderRecord, IsTheSameTextForTheSameRecord) {
    EXPECT_EQ(write_leader_record(example), write_leader_record(leader_record(example)));
    EXPECT_EQ(write_leader_record(example).find('\n'), std::string::npos);
}

TEST(LeaderRecord, TakesItsTokenFromTheWriteThatCouldNotKnowIt) {
    leader_record r = example;
    EXPECT_EQ(token_of(r, 99).zxid, 4294967330);
    r.token = 0;
    EXPECT_EQ(token_of(r, 99).zxid, 99);
}

TEST(LeaderRecord, FitsItsLimitHoweverMuchMustBeEscaped) {
    leader_record r = example;
    r.id.assign(longest_leader_id, '\x01');
    r.data.assign(longest_leader_data, '\x02');
    const std::string text = write_leader_record(r);
    EXPECT_LE(text.size(), longest_leader_record);
    EXPECT_EQ(read_leader_record(text), r);
}

TEST(LeaderRecord, OfBytesThatAreNoTextIsStillARecord) {
    leader_record r = example;
    r.id = "\xff\xfe";
    EXPECT_TRUE(read_leader_record(write_leader_record(r)));
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
            R"({"host":"a","pid":1,"user":"b","program":"c","mode":"exclusive","since":1})",
        }) {
        EXPECT_FALSE(read_leader_record(text)) << text;
        EXPECT_FALSE(may_become_record(text)) << text;
    }
}

TEST(LeaderRecord, RefusesFieldsAndRecordsThatAreTooLong) {
    leader_record r = example;
    r.id.assign(longest_leader_id + 1, 'a');
    EXPECT_FALSE(read_leader_record(write_leader_record(r)));
    r = example;
    r.data.assign(longest_leader_data + 1, 'a');
    EXPECT_FALSE(read_leader_record(write_leader_record(r)));
    EXPECT_FALSE(
        read_leader_record(write_leader_record(example) + std::string(longest_leader_record, ' ')));
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

}  // namespace
}  // namespace latchkey
