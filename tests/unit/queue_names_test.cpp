#include "queue_names.hpp"

#include "ensemble/virtual/virtual_loop.hpp"
#include "queue/queue_recipe.hpp"
#include "story.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace test;
using standing = queue_place::standing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct place_case {
    standing what;
    std::vector<std::string> endings;  ///< behind Curator's prefix
    std::uint32_t sequence = 0;
};

TEST(Place, IsReadFromTheName) {
    using enum standing;
    const std::string kazoo = "0123456789abcdef0123456789abcdef__lock__";
    for (const auto& [what, endings, sequence] : {
             place_case{participant, {"lock-0000000007"}, 7},
             place_case{participant, {"lock-0000000000"}, 0},
             place_case{participant, {"lock-2146435071"}, last_sequence},
             place_case{participant, {"lock-0000000009lock-0000000001"}, 1},
             place_case{exhausted, {"lock-2146435072", "lock-2147483647"}},
             // Beyond 31 and 32 bits, and wrapped.
             place_case{exhausted, {"lock-2147483648", "lock-4294967297", "lock-9999999999"}},
             place_case{exhausted, {"lock--2147483648", "lock--999999999", "lock--000000001"}},
             place_case{malformed, {"lock-000000001", "lock-00000000001", "lock-0"}},
             place_case{malformed, {"lock-" + std::string(1000, '9')}},
             place_case{foreign, {"", "config", "0000000001", "lock-", "lock0000000001"}},
             place_case{foreign, {kazoo + "0000000001", "__READ__0000000001"}},
             place_case{foreign, {"lock-0000000001x", "lock-000000000 ", "lock-+000000001"}},
             place_case{foreign, {"lock--", "lock---000000001", "lock-0x00000001"}},
             place_case{foreign, {"lock-\u0660\u0661\u0662\u0663\u0664", "LOCK-0000000001"}},
             place_case{foreign, {std::string("lock-0000000001\0", 16)}},
         }) {
        for (const std::string& ending : endings) {
            for (const std::string& prefix : {curator, go_zk, std::string()}) {
                const queue_place p = place_of(prefix + ending, plain_names);
                EXPECT_EQ(p.what, what) << prefix << ending;
                EXPECT_EQ(p.sequence, sequence) << prefix << ending;
            }
        }
    }
}

TEST(Place, OfAReadWriteLockIsSharedOrNot) {
    EXPECT_EQ(place_of(written_out("o1"), read_write_names).what, standing::foreign);
    EXPECT_TRUE(place_of(written_out("r1"), read_write_names).shared);
    EXPECT_FALSE(place_of(written_out("w1"), read_write_names).shared);
}

TEST(Place, AnotherLibrarysNamesCountWhereTheyAreKnown) {
    constexpr queue_markers known{.exclusive = "lock-", .shared = {}, .others = "__lock__"};
    const std::string kazoo = "0123456789abcdef0123456789abcdef__lock__";
    const queue_place p = place_of(kazoo + "0000000007", known);
    EXPECT_EQ(p.what, queue_place::standing::participant);
    EXPECT_EQ(p.sequence, 7U);
    EXPECT_FALSE(p.shared);
    EXPECT_EQ(place_of(kazoo + "x", known).what, queue_place::standing::foreign);
    EXPECT_EQ(place_of(kazoo + "7", known).what, queue_place::standing::malformed);
    EXPECT_EQ(place_of("x__rlock__0000000007", known).what, queue_place::standing::foreign);
    EXPECT_EQ(place_of(numbered(curator, 7), known).sequence, 7U);
}

TEST(Place, LastSequenceLeavesAMillionJoinsBeforeTheEnd) {
    static_assert(last_sequence == 2'146'435'071U);
    static_assert(0x7FFF'FFFFU - last_sequence >= 1'000'000U);
}

TEST(InOrder, SortsParticipantsByNumberAndLeavesOutTheRest) {
    EXPECT_THAT(
        in_order({written_out("o10"), "config", written_out("c9"), "lock-1", written_out("c-1")},
                 plain_names),
        ElementsAre(written_out("c9"), written_out("o10")));
    EXPECT_THAT(in_order({}, plain_names), IsEmpty());
}

TEST(WithPrefix, FindsAllThatOneAttemptMadeLowestNumberFirst) {
    const names list{numbered(ours, 12), numbered(curator, 1), numbered(ours, 7), ours + "config"};
    EXPECT_THAT(queue_list(list, plain_names).with_prefix(ours),
                ElementsAre(numbered(ours, 7), numbered(ours, 12)));
}

TEST(WithPrefix, PutsNumbersThatCannotBeTrustedLast) {
    const names list{numbered(ours, 2147483647), numbered(ours, -2147483648), numbered(ours, 7)};
    EXPECT_THAT(queue_list(list, plain_names).with_prefix(ours),
                ElementsAre(numbered(ours, 7), ::testing::_, ::testing::_));
}

TEST(DelayRecord, SaysHowLongAndWhose) {
    const auto r = delay_record_of(name_of_delay(1234567ms, delayed + "delay-lock-0000000042"));
    ASSERT_TRUE(r);
    EXPECT_EQ(r->delay, 1234567ms);
    EXPECT_EQ(r->sequence, 42U);
    const std::string record = "delay-9b3f7c1e-5a64-4c1d-8f0e-2d6b7a90c3d4-800300000000000012";
    EXPECT_EQ(name_of_delay(30s, delayed + "delay-lock-0000000012"), record);
    EXPECT_EQ(name_of_delay(30s, "/_c_x/" + delayed + "__READ__0000000012"), record);
}

TEST(DelayRecord, IsNoOtherName) {
    const std::string begin = "delay-" + delayed.substr(3);
    for (const std::string& other :
         words_of("8 80030000000000001 8003000000000000123 700300000000000012 8003000000000000x2 "
                  "-00300000000000012 800300002147483647 lock-0000000012")) {
        EXPECT_FALSE(delay_record_of(begin + other)) << other;
        EXPECT_FALSE(delay_record_of(other)) << other;
    }
    const std::string digits = "800300000000000012";
    ASSERT_TRUE(delay_record_of(begin + digits));
    const std::string guid = delayed.substr(3);
    const std::string bad_guid = guid.substr(0, guid.size() - 1) + "x";
    for (const std::string& begins : {std::string(),
                                      std::string("delay-"),
                                      delayed,
                                      "DELAY-" + guid,
                                      "delay-" + bad_guid,
                                      'x' + begin}) {
        const std::string other = begins + digits;
        EXPECT_FALSE(delay_record_of(other)) << other;
    }
    EXPECT_EQ(delay_record_of(begin + "899999990000000001")->delay, 1h)
        << "no longer than an option";
}

/// Curator compares the whole name as text if it has no marker. go-zookeeper compares the number
/// behind the last hyphen. kazoo takes participants by their marker.
TEST(DelayRecord, IsBehindEveryParticipantByAnyOrder) {
    const std::string last = std::to_string(INT32_MAX);
    for (const std::string& record : {name_of_delay(0ms, delayed + "delay-lock-0000000000"),
                                      name_of_delay(1h, delayed + "delay-lock-" + last)}) {
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

/// Several records of one holder have one czxid; a directory that is made again may have a record
/// of the same name.
TEST(DirectoryNotes, CountADelayFromWhenTheHolderWasFirstSeenToBeGone) {
    const auto l = virtual_loop::make(virtual_loop::mode::stepped, 1);
    directory_notes notes;
    const auto end = notes.end_of_delay(*l, "/lock/delay-a", 7, 30s);
    EXPECT_EQ(end, l->now() + 30s);
    l->run_for(10s);
    EXPECT_EQ(notes.end_of_delay(*l, "/lock/delay-a", 7, 30s), end) << "the same holder";
    EXPECT_EQ(notes.end_of_delay(*l, "/lock/delay-a", 9, 30s), end + 10s) << "of another directory";
    EXPECT_EQ(notes.end_of_delay(*l, "/lock/delay-b", 7, 30s), end + 10s) << "another record";
    l->run_for(2h);
    EXPECT_EQ(notes.end_of_delay(*l, "/lock/delay-a", 7, 30s), l->now() + 30s) << "long forgotten";
}

}  // namespace
}  // namespace latchkey
