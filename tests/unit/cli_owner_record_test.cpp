#include "look/member_changes.hpp"
#include "look/owner_text.hpp"
#include "options/owner_record.hpp"
#include "output/exit_status.hpp"
#include "queue/participant_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(OwnerRecord, IsLatchkeysRecordWithIdAndData) {
    const auto text = owner_record("permit", "nightly", "see wiki");
    const auto who = read_record(text);
    ASSERT_TRUE(who.has_value());
    EXPECT_EQ(who->pid, ::getpid());
    EXPECT_EQ(who->mode, "permit");
    EXPECT_THAT(owner_text(text, 12min), StartsWith("nightly, "));
    EXPECT_THAT(owner_text(text, 12min), EndsWith(", 12 min)"));
    EXPECT_THAT(text, HasSubstr("see wiki"));
    EXPECT_THROW(static_cast<void>(owner_record("permit", std::string(500, 'x'), "")), usage_error);
}

TEST(OwnerRecord, OfOthersIsShownEscaped) {
    EXPECT_EQ(owner_text(R"({"host":"ci-4\u001b","pid":812,"user":"build"})", 12min),
              "build@ci-4\\x1b (pid 812, 12 min)");
    EXPECT_EQ(owner_text("10.0.0.7\n", 5s), "10.0.0.7\\n (5 s)");
    EXPECT_EQ(owner_text("", 3h), "another client (3 h)");
    EXPECT_THAT(owner_text(std::string(100, 'x'), 0s), EndsWith("xxx... (0 s)"));
}

TEST(MemberChanges, AreThoseBetweenTwoLists) {
    const auto member = [](const char* name, const char* data, std::int64_t czxid) {
        return group_member{.name = name, .data = data, .czxid = czxid};
    };
    const group_member a = member("a", "", 1);
    const group_member b = member("b", "", 2);
    const group_member b_with_data = member("b", "x", 2);
    const group_member b_again = member("b", "", 9);
    const group_member c = member("c", "", 3);
    using changes = std::vector<member_change>;
    EXPECT_EQ(changes_between({}, {}), changes());
    EXPECT_EQ(changes_between({}, {a, b}), (changes{{"joined", a}, {"joined", b}}));
    EXPECT_EQ(changes_between({a, b}, {b, c}), (changes{{"left", a}, {"joined", c}}));
    EXPECT_EQ(changes_between({b, c}, {a, b_with_data}),
              (changes{{"joined", a}, {"changed", b_with_data}, {"left", c}}));
    EXPECT_EQ(changes_between({a, b}, {a, b_again}), (changes{{"left", b}, {"joined", b_again}}));
}

}  // namespace

}  // namespace latchkey::cli
