#include "queue/queue_order.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using enum queue_verdict::answer;
using enum queue_rule;

constexpr queue_markers read_write{.exclusive = "__WRIT__", .shared = "__READ__"};

/// "r3" and "w12", each with a prefix of its own.
std::string name_of(const std::string& brief) {
    const std::string number = brief.substr(1);
    return "_c_" + brief + (brief[0] == 'r' ? "-__READ__" : "-__WRIT__") +
           std::string(10 - number.size(), '0') + number;
}

queue_verdict decided_by(const std::vector<std::string>& briefs,
                         const std::string& own,
                         queue_rule rule) {
    std::vector<std::string> names;
    for (const std::string& b : briefs) {
        names.push_back(name_of(b));
    }
    return decide(names, name_of(own), read_write, rule);
}

struct read_write_case {
    const char* claim;
    std::vector<std::string> queue;
    const char* own;
    queue_rule rule;
    queue_verdict::answer what;
    const char* blocker = "";
    std::size_t ahead = 0;
    bool grants = false;
};

class ReadWriteQueue : public ::testing::TestWithParam<read_write_case> {};

TEST_P(ReadWriteQueue, Decides) {
    const read_write_case& c = GetParam();
    const queue_verdict v = decided_by(c.queue, c.own, c.rule);
    EXPECT_EQ(v.what, c.what);
    EXPECT_EQ(v.blocker, *c.blocker == 0 ? std::string() : name_of(c.blocker));
    EXPECT_EQ(v.ahead, c.ahead);
    EXPECT_EQ(v.grants_when_gone, c.grants);
}

INSTANTIATE_TEST_SUITE_P(
    Rules,
    ReadWriteQueue,
    ::testing::Values(
        read_write_case{"ReaderBesideReaders", {"r1", "r0", "r2"}, "r2", exclusive_only, acquired},
        read_write_case{"ReaderIgnoresLaterWriters", {"r1", "w2"}, "r1", exclusive_only, acquired},
        read_write_case{"ReaderWaitsForTheNearestWriter",
                        {"w1", "r2", "w3", "r4", "r5"},
                        "r5",
                        exclusive_only,
                        wait,
                        "w3",
                        2},
        read_write_case{"ReaderIsGrantedWhenTheOnlyWriterGoes",
                        {"w1", "r2", "r3"},
                        "r3",
                        exclusive_only,
                        wait,
                        "w1",
                        1,
                        true},
        read_write_case{
            "WriterWaitsForWhoeverIsBeforeIt", {"r1", "r2", "w3"}, "w3", everybody, wait, "r2", 2},
        read_write_case{"WriterIsGrantedWhenTheOnlyReaderGoes",
                        {"r1", "w3"},
                        "w3",
                        everybody,
                        wait,
                        "r1",
                        1,
                        true},
        read_write_case{"WriterBehindAWriterListsAgainBecauseAReaderMayTakeItsPlace",
                        {"w1", "w3"},
                        "w3",
                        everybody,
                        wait,
                        "w1",
                        1,
                        false},
        read_write_case{
            "UpgraderBesideEarlierReaders", {"r1", "w3", "r4"}, "w3", exclusive_only, acquired},
        read_write_case{"OwnDowngradeIsNoConflict", {"r3", "w3"}, "r3", exclusive_only, acquired},
        read_write_case{"OfADowngradeTheReaderIsWaitedFor",
                        {"w3", "r3", "w4"},
                        "w4",
                        everybody,
                        wait,
                        "r3",
                        2}),
    [](const auto& tested) { return std::string(tested.param.claim); });

TEST(ReadWriteNames, SameKindAndNumberIsTheEndOfTheSequence) {
    const std::vector<std::string> twins{name_of("w3"), "_c_other-__WRIT__0000000003"};
    EXPECT_EQ(decide(twins, twins[0], read_write, everybody).what, exhausted);
}

TEST(ReadWriteNames, AMutexOfTheSameDirectoryIsForeign) {
    EXPECT_EQ(place_of("_c_x-lock-0000000001", read_write).what, queue_place::standing::foreign);
    EXPECT_TRUE(place_of(name_of("r1"), read_write).shared);
    EXPECT_FALSE(place_of(name_of("w1"), read_write).shared);
}

}  // namespace
}  // namespace latchkey
