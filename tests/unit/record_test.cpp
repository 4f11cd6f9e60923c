#include "eventually.hpp"
#include "queue/participant_record.hpp"

#include <cerrno>
#include <chrono>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Record, SaysWhoJoinedAndWhen) {
    const auto before = std::chrono::system_clock::now();
    const auto read = read_record(record_writer().write("exclusive"));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->pid, ::getpid());
    EXPECT_EQ(read->mode, "exclusive");
    EXPECT_FALSE(read->user.empty());
    char host[256] = {};
    ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
    EXPECT_EQ(read->host, host);
    EXPECT_THAT(program_invocation_short_name, StartsWith(read->program));
    EXPECT_GE(read->since, before - 1ms);
    EXPECT_LE(read->since, std::chrono::system_clock::now());
}

TEST(Record, HasThePresentTimeEachTimeItIsWritten) {
    const record_writer w;
    const auto first = read_record(w.write("exclusive"));
    ASSERT_TRUE(first);
    EXPECT_TRUE(test::eventually([&] {
        const auto later = read_record(w.write("exclusive"));
        return later && later->since > first->since;
    }));
}

/// Takes another name for the program while it is in scope.
class program_name {
public:
    explicit program_name(std::string name)
        : name_(std::move(name)), before_(program_invocation_short_name) {
        program_invocation_short_name = name_.data();
    }

    program_name(const program_name&) = delete;
    program_name& operator=(const program_name&) = delete;

    ~program_name() { program_invocation_short_name = before_; }

private:
    std::string name_;
    char* before_;
};

TEST(Record, IsSmallAsciiJsonWhateverTheProgramIsCalled) {
    for (const std::string& name :
         {std::string(200, '\x01'),
          std::string(200, '"'),
          std::string(200, '\xFF'),
          std::string(4000, 'a'),
          std::string("caf\xC3"),
          std::string("\xF0\x9F\x94\x92\xF0\x9F\x94\x92\xF0\x9F\x94\x92")}) {
        const program_name called(name);
        const std::string written = record_writer().write("exclusive");
        EXPECT_LE(written.size(), longest_record);
        for (const char c : written) {
            ASSERT_TRUE(c >= 0x20 && c < 0x7F) << written;
        }
        EXPECT_TRUE(read_record(written)) << written;
    }
}

TEST(Record, KeepsALongNameThatFits) {
    const program_name called("payment-reconciliation-worker");
    const auto read = read_record(record_writer().write("exclusive"));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->program, "payment-reconciliation-worker");
}

struct foreign_case {
    const char* why;
    std::string data;
};

class ForeignData : public ::testing::TestWithParam<foreign_case> {};

TEST_P(ForeignData, IsNoRecord) {
    EXPECT_FALSE(read_record(GetParam().data));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    ForeignData,
    ::testing::Values(foreign_case{"nothing", ""},
                      foreign_case{"curators_address", "10.0.0.7"},
                      foreign_case{"number", "42"},
                      foreign_case{"array", "[1,2]"},
                      foreign_case{"other_object", R"({"id":1})"},
                      foreign_case{"host_only", R"({"host":"a"})"},
                      foreign_case{"cut_short", R"({"host":"a","pid":1)"},
                      foreign_case{"junk_behind", R"({"host":"a","pid":1}x)"},
                      foreign_case{"two", R"({"host":"a","pid":1}{"host":"a","pid":1})"},
                      foreign_case{"not_utf8", "{\"host\":\"\xFF\",\"pid\":1}"},
                      foreign_case{"gzip", std::string("\x1F\x8B\x08\0\0", 5)},
                      foreign_case{"deep", std::string(512, '[')},
                      foreign_case{"too_long",
                                   R"({"host":"a","pid":1,"x":")" + std::string(500, 'x') + "\"}"},
                      foreign_case{"huge", std::string(1'000'000, '{')}),
    [](const auto& tested) { return std::string(tested.param.why); });

TEST(Record, FieldsOfAnotherTypeAreEmpty) {
    const auto read =
        read_record(R"({"host":7,"pid":"1","user":null,"program":["a"],"mode":{},"since":"now"})");
    ASSERT_TRUE(read);
    EXPECT_THAT(read->host, IsEmpty());
    EXPECT_THAT(read->user, IsEmpty());
    EXPECT_THAT(read->program, IsEmpty());
    EXPECT_THAT(read->mode, IsEmpty());
    EXPECT_EQ(read->pid, 0);
    EXPECT_EQ(read->since.time_since_epoch().count(), 0);
}

TEST(Record, FractionsAreNoNumbersOfProcesses) {
    const auto read = read_record(R"({"host":"a","pid":1.5,"since":1e300})");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->pid, 0);
    EXPECT_EQ(read->since.time_since_epoch().count(), 0);
}

TEST(Record, TimesBeyondTheClockSaturate) {
    const auto since = [](const std::string& ms) {
        return read_record(R"({"host":"a","pid":1,"since":)" + ms + "}").value().since;
    };
    EXPECT_EQ(since("9223372036854775807"), std::chrono::system_clock::time_point::max());
    EXPECT_EQ(since("9223372036855"), std::chrono::system_clock::time_point::max());
    EXPECT_EQ(since("-9223372036854775808"), std::chrono::system_clock::time_point::min());
    EXPECT_EQ(since("1700000000123"), std::chrono::system_clock::time_point(1700000000123ms));
    EXPECT_EQ(since("-1"), std::chrono::system_clock::time_point(-1ms));
}

TEST(Record, NumbersBeyondSixtyThreeBitsAreNoProcesses) {
    const auto read = read_record(R"({"host":"a","pid":18446744073709551615})");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->pid, 0);
}

TEST(Record, ReadingSurvivesAnyDamage) {
    const std::string whole = record_writer().write("exclusive");
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        std::string damaged = whole;
        for (std::uint64_t i = 1 + random() % 4; i > 0 && !damaged.empty(); --i) {
            const std::size_t at = random() % damaged.size();
            switch (random() % 3) {
                case 0:
                    damaged[at] = static_cast<char>(random());
                    break;
                case 1:
                    damaged.erase(at, 1 + random() % 5);
                    break;
                default:
                    damaged.insert(at, 1 + random() % 5, static_cast<char>(random()));
            }
        }
        const auto read = read_record(damaged);
        if (read) {
            ASSERT_LE(read->host.size(), longest_record);
        }
    }
}

}  // namespace
}  // namespace latchkey
