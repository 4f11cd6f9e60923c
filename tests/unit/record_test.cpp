#include "eventually.hpp"
#include "queue/participant_record.hpp"

#include <cerrno>
#include <chrono>
#include <limits>
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

TEST(Record, IsNoForeignData) {
    for (const std::string& data : {std::string(),
                                    std::string("10.0.0.7"),  // Curator's
                                    std::string("42"),
                                    std::string("[1,2]"),
                                    std::string(R"({"id":1})"),
                                    std::string(R"({"host":"a"})"),
                                    std::string(R"({"host":"a","pid":1)"),
                                    std::string(R"({"host":"a","pid":1}x)"),
                                    std::string(R"({"host":"a","pid":1}{"host":"a","pid":1})"),
                                    std::string("{\"host\":\"\xFF\",\"pid\":1}"),
                                    std::string("\x1F\x8B\x08\0\0", 5),
                                    std::string(512, '['),
                                    R"({"host":"a","pid":1,"x":")" + std::string(500, 'x') + "\"}",
                                    std::string(1'000'000, '{')}) {
        EXPECT_FALSE(read_record(data)) << data.substr(0, 80);
    }
}

TEST(Record, FieldsOfAnotherTypeAreEmpty) {
    const auto read =
        read_record(R"({"host":7,"pid":"1","user":null,"program":["a"],"mode":{},"since":"now"})");
    ASSERT_TRUE(read);
    for (const std::string& text : {read->host, read->user, read->program, read->mode}) {
        EXPECT_THAT(text, IsEmpty());
    }
    EXPECT_EQ(read->pid, 0);
    EXPECT_EQ(read->since.time_since_epoch().count(), 0);
}

TEST(Record, TakesNoFractionsNorNumbersBeyondSixtyThreeBitsForProcesses) {
    for (const char* data : {R"({"host":"a","pid":1.5,"since":1e300})",
                             R"({"host":"a","pid":18446744073709551615})"}) {
        const auto read = read_record(data);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->pid, 0);
        EXPECT_EQ(read->since.time_since_epoch().count(), 0);
    }
}

TEST(Record, TimesBeyondTheClockSaturate) {
    const auto since = [](const std::string& ms) {
        return read_record(R"({"host":"a","pid":1,"since":)" + ms + "}").value().since;
    };
    using time_point = std::chrono::system_clock::time_point;
    EXPECT_EQ(since("9223372036854775807"), time_point::max());
    EXPECT_EQ(since("9223372036855"), time_point::max());
    EXPECT_EQ(since("-9223372036854775808"), time_point::min());
    EXPECT_EQ(since("1700000000123"), time_point(1700000000123ms));
    EXPECT_EQ(since("-1"), time_point(-1ms));
}

}  // namespace
}  // namespace latchkey
