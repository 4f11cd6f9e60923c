// The records of lock delays, among the participants of a queue.
#include "queue/queue_order.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using enum queue_verdict::answer;

const std::string delayed_guid = "_c_9b3f7c1e-5a64-4c1d-8f0e-2d6b7a90c3d4-";

/// "L3": has a delay; "l3": has none; "r3", "w3": of a shared_mutex; "W3" has a delay; "d3": the
/// record of the participant 3.
std::string delayed_name(const std::string& brief) {
    const std::string digits = std::string(10 - brief.size() + 1, '0') + brief.substr(1);
    switch (brief[0]) {
        case 'L':
            return delayed_guid + "delay-lock-" + digits;
        case 'l':
            return delayed_guid + "lock-" + digits;
        case 'W':
            return delayed_guid + "delay-__WRIT__" + digits;
        case 'w':
            return delayed_guid + "__WRIT__" + digits;
        case 'r':
            return delayed_guid + "__READ__" + digits;
        default:
            return name_of_delay(30s, delayed_guid + "delay-lock-" + digits);
    }
}

queue_verdict decided_beside_records(const std::vector<std::string>& briefs,
                                     const std::string& own,
                                     queue_rule rule = queue_rule::everybody) {
    std::vector<std::string> names;
    std::transform(briefs.begin(), briefs.end(), std::back_inserter(names), delayed_name);
    const bool plain = own.empty() || own[0] == 'l' || own[0] == 'L';
    return decide(
        names, own.empty() ? "" : delayed_name(own), plain ? lock_names : read_write_names, rule);
}

TEST(DelayRecord, SaysHowLongAndWhose) {
    const auto r =
        delay_record_of(name_of_delay(1234567ms, delayed_guid + "delay-lock-0000000042"));
    ASSERT_TRUE(r);
    EXPECT_EQ(r->delay, 1234567ms);
    EXPECT_EQ(r->sequence, 42U);
    const std::string record = "delay-9b3f7c1e-5a64-4c1d-8f0e-2d6b7a90c3d4-800300000000000012";
    EXPECT_EQ(name_of_delay(30s, delayed_guid + "delay-lock-0000000012"), record);
    EXPECT_EQ(name_of_delay(30s, "/_c_x/" + delayed_guid + "__READ__0000000012"), record);
}

TEST(DelayRecord, IsNoOtherName) {
    const std::string begin = "delay-" + delayed_guid.substr(3);
    for (const char* other : {"",
                              "8",
                              "80030000000000001",
                              "8003000000000000123",
                              "700300000000000012",
                              "8003000000000000x2",
                              "-00300000000000012",
                              "800300002147483647",
                              "lock-0000000012"}) {
        EXPECT_FALSE(delay_record_of(begin + other)) << other;
        EXPECT_FALSE(delay_record_of(other)) << other;
    }
    const std::string digits = "800300000000000012";
    ASSERT_TRUE(delay_record_of(begin + digits));
    for (const std::string& other : {digits,
                                     "delay-" + digits,
                                     delayed_guid + digits,
                                     "DELAY-" + delayed_guid.substr(3) + digits,
                                     begin.substr(0, begin.size() - 1) + "x" + digits,
                                     "x" + begin + digits}) {
        EXPECT_FALSE(delay_record_of(other)) << other;
    }
    EXPECT_EQ(delay_record_of(begin + "899999990000000001")->delay, 1h)
        << "no longer than an option";
}

/// Curator compares the whole name as text if it has no marker. go-zookeeper compares the number
/// behind the last hyphen. kazoo takes participants by their marker.
TEST(DelayRecord, IsBehindEveryParticipantByAnyOrder) {
    const std::string last = std::to_string(INT32_MAX);
    for (const std::string& record : {name_of_delay(0ms, delayed_guid + "delay-lock-0000000000"),
                                      name_of_delay(1h, delayed_guid + "delay-lock-" + last)}) {
        EXPECT_GT(record, last) << "Curator";
        for (const char* marker : {"lock-", "latch-", "__"}) {
            EXPECT_EQ(record.find(marker), std::string::npos) << "Curator, kazoo";
        }
        const std::string number = record.substr(record.rfind('-') + 1);
        EXPECT_GT(std::stoll(number), INT32_MAX) << "go-zookeeper, 64 bits";
        EXPECT_EQ(number.find_first_not_of("0123456789"), std::string::npos) << "go-zookeeper";
        EXPECT_EQ(place_of(record, lock_names).what, queue_place::standing::foreign);
        EXPECT_EQ(place_of(record, read_write_names).what, queue_place::standing::foreign);
    }
}

TEST(DelayRecord, OfAHolderThatIsThereBlocksNobody) {
    EXPECT_EQ(decided_beside_records({"L1", "d1"}, "L1").what, acquired);
    const queue_verdict v = decided_beside_records({"L1", "d1", "l2"}, "l2");
    EXPECT_EQ(v.what, wait);
    EXPECT_EQ(v.blocker, delayed_name("L1"));
    EXPECT_EQ(v.delay, 0s);
    EXPECT_FALSE(v.grants_when_gone) << "the record shows how it ended";
}

TEST(DelayRecord, OfAHolderThatIsGoneBlocksTheFirst) {
    for (const char* own : {"l2", "L2", ""}) {
        const queue_verdict v = *own != 0 ? decided_beside_records({"d1", own}, own)
                                          : decided_beside_records({"d1"}, "");
        EXPECT_EQ(v.what, wait);
        EXPECT_EQ(v.blocker, delayed_name("d1"));
        EXPECT_EQ(v.delay, 30s);
        EXPECT_EQ(v.ahead, 1U);
        EXPECT_FALSE(v.grants_when_gone);
    }
}

TEST(DelayRecord, KeepsALaterParticipantFromAGrantWithoutAList) {
    const queue_verdict v = decided_beside_records({"d1", "l2", "l3"}, "l3");
    EXPECT_EQ(v.blocker, delayed_name("l2"));
    EXPECT_FALSE(v.grants_when_gone) << "the first may die while it waits for the delay";
    EXPECT_FALSE(decided_beside_records({"L2", "l3"}, "l3").grants_when_gone);
    EXPECT_TRUE(decided_beside_records({"l2", "L3"}, "L3").grants_when_gone);
}

TEST(DelayRecord, OfAWriterBlocksReadersAndIsTheReadersAfterADowngrade) {
    const auto readers = queue_rule::exclusive_only;
    EXPECT_EQ(decided_beside_records({"d1", "r2"}, "r2", readers).delay, 30s);
    EXPECT_EQ(decided_beside_records({"d1", "r1", "r2"}, "r2", readers).what, acquired);
    EXPECT_EQ(decided_beside_records({"d1", "W1", "r2"}, "r2", readers).blocker,
              delayed_name("W1"));
    const queue_verdict v = decided_beside_records({"d1", "r1", "w2"}, "w2");
    EXPECT_EQ(v.blocker, delayed_name("r1"));
    EXPECT_FALSE(v.grants_when_gone);
}

TEST(DelayRecord, CountsOnlyWhereHoldersHaveDelays) {
    EXPECT_EQ(decide({delayed_name("d1"), delayed_guid + "latch-0000000002"},
                     delayed_guid + "latch-0000000002",
                     latch_names,
                     queue_rule::everybody)
                  .what,
              acquired);
}

}  // namespace
}  // namespace latchkey
