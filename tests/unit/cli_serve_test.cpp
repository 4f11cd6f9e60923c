#include "cli_folder.hpp"
#include "cli_words.hpp"
#include "output/exit_status.hpp"
#include "serve/access_rules.hpp"
#include "serve/http_messages.hpp"
#include "serve/lock_metrics.hpp"
#include "serve/lock_reader.hpp"
#include "serve/reading_changes.hpp"
#include "serve/reading_loop.hpp"
#include "serve/request_target.hpp"
#include "serve/snapshot.hpp"
#include "serve/token.hpp"
#include "serve/web_file.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace latchkey::test {
namespace {

using namespace latchkey::cli;
using namespace std::chrono_literals;

// ---- what is asked for ----

TEST(RequestTarget, HasAPathAndDecodedParameters) {
    const auto t = request_target::parse("/api/lock?path=%2Fjobs%2Fa+b&empty&path=2");
    ASSERT_TRUE(t);
    EXPECT_EQ(t->path, "/api/lock");
    ASSERT_THAT(t->parameters, SizeIs(3));
    EXPECT_EQ(*t->find("path"), "/jobs/a b");
    EXPECT_EQ(*t->find("empty"), "");
    EXPECT_EQ(t->find("none"), nullptr);
    EXPECT_THAT(request_target::parse("/?")->parameters, IsEmpty());
    EXPECT_EQ(request_target::parse("/%2e")->path, "/%2e") << "a path is compared as it is";
}

TEST(RequestTarget, IsRefusedIfItIsMalformed) {
    for (const std::string& text :
         joined({"", "/ ", "/a b", "/\n"},
                words_of("api * http://x/ /\x80 /#a /?a=% /?a=%4 /?a=%4g /?%zz /?a=%00"))) {
        EXPECT_FALSE(request_target::parse(text)) << text;
    }
    std::string many = "/?";
    for (int i = 0; i < 16; ++i) {
        many += "a&";
    }
    EXPECT_TRUE(request_target::parse(many));
    EXPECT_FALSE(request_target::parse(many + "a"));
}

TEST(Token, HasNoWhiteSpaceAtItsEnds) {
    const temporary_folder folder;
    for (const std::string end : {"", "\n", "\r\n", " ", "\t\n", "\n\n"}) {
        folder.write("token", end + "0123456789abcdef" + end);
        ASSERT_EQ(::chmod((folder / "token").c_str(), 0600), 0);
        EXPECT_EQ(read_token(folder / "token"), "0123456789abcdef");
    }
    folder.write("token", "01234567 89abcdef");
    EXPECT_THROW(static_cast<void>(read_token(folder / "token")), usage_error);
}

TEST(Token, HasAtLeastSixteenCharacters) {
    const temporary_folder folder;
    folder.write("token", "0123456789abcde");
    ASSERT_EQ(::chmod((folder / "token").c_str(), 0600), 0);
    EXPECT_THROW(static_cast<void>(read_token(folder / "token")), usage_error);
}

// ---- who is answered ----

http_request request_to(std::string host) {
    http_request r;
    r.host = std::move(host);
    return r;
}

http_request request_with(std::string authorization) {
    http_request r;
    r.authorization = std::move(authorization);
    return r;
}

TEST(AccessRules, AnswerWhoAsksForThisMachine) {
    const access_rules rules(true, "");
    for (const std::string& host :
         words_of("localhost LocalHost:80 127.0.0.1 127.1.2.3:65535 [::1] [::1]:8080")) {
        EXPECT_FALSE(rules.refuse_host(request_to(host))) << host;
    }
    for (const std::string& host :
         joined({""},
                words_of("locks.example localhosts localhost.example 128.0.0.1 127.0.0 127.0.0.1.2 "
                         "127.0.0.256 127.0.0.1:x 127.0.0.1:65536 [::2] ::1"))) {
        const auto refusal = rules.refuse_host(request_to(host));
        ASSERT_TRUE(refusal) << host;
        EXPECT_EQ(refusal->status, 421);
    }
    EXPECT_FALSE(access_rules(false, "").refuse_host(request_to("locks.example")));
}

TEST(AccessRules, AnswerWhoHasTheToken) {
    const access_rules rules(true, "0123456789abcdef");
    for (const std::string right : {"Bearer 0123456789abcdef", "bEARER 0123456789abcdef"}) {
        EXPECT_FALSE(rules.refuse_stranger(request_with(right))) << right;
    }
    for (const std::string wrong : {"",
                                    "Bearer ",
                                    "0123456789abcdef",
                                    "Digest 0123456789abcdef",
                                    "Bearer 0123456789abcdeF",
                                    "Bearer 0123456789abcde",
                                    "Bearer 0123456789abcdef0123456789abcdef"}) {
        const auto refusal = rules.refuse_stranger(request_with(wrong));
        ASSERT_TRUE(refusal) << wrong;
        EXPECT_EQ(refusal->status, 401);
    }
    EXPECT_FALSE(access_rules(true, "").refuse_stranger(request_with(""))) << "none is necessary";
}

TEST(ReadingLoop, ReadsLessOftenIfNobodyAsksOrIfAReadingTakesLong) {
    EXPECT_EQ(next_reading_after(5s, 1s, 0s), 5s);
    EXPECT_EQ(next_reading_after(5s, 1s, 120s), 5s);
    EXPECT_EQ(next_reading_after(5s, 1s, 121s), 60s);
    EXPECT_EQ(next_reading_after(5s, 20s, 0s), 40s);
    EXPECT_EQ(next_reading_after(5s, 50s, 121s), 100s);
    EXPECT_EQ(next_reading_after(600s, 1s, 6000s), 600s);
    EXPECT_EQ(next_reading_after(600s, 1s, 6001s), 600s);
}

// ---- what it shows ----

/// The character that a regular expression of JavaScript has at its beginning, which is removed.
char32_t taken_character(std::string_view& text) {
    if (!text.starts_with("\\u")) {
        return 0;
    }
    const bool braces = text.substr(2).starts_with('{');
    const auto end = braces ? text.find('}') : 6;
    const std::string digits(text.substr(braces ? 3 : 2, end - (braces ? 3 : 2)));
    text.remove_prefix(braces ? end + 1 : end);
    return static_cast<char32_t>(std::stoul(digits, nullptr, 16));
}

TEST(Page, EscapesTheCharactersThatTheCommandEscapes) {
    std::string_view script = web_file::find("/dom.js")->bytes;
    script = script.substr(script.find("/[\\u0000") + 2);
    std::vector<bool> escaped_there(0x110000);
    while (!script.starts_with(']')) {
        if (script.starts_with("\\p{Noncharacter_Code_Point}")) {
            script.remove_prefix(script.find('}') + 1);
            for (char32_t c = 0; c < escaped_there.size(); ++c) {
                escaped_there[c] = escaped_there[c] || is_noncharacter(c);
            }
            continue;
        }
        const char32_t first = taken_character(script);
        ASSERT_EQ(script.find_first_of("-\\]"), 0U) << script.substr(0, 20);
        const bool is_range = script.starts_with('-');
        script.remove_prefix(is_range ? 1 : 0);
        const char32_t last = is_range ? taken_character(script) : first;
        std::fill(escaped_there.begin() + static_cast<std::ptrdiff_t>(first),
                  escaped_there.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                  true);
    }
    for (char32_t c = 0; c < escaped_there.size(); ++c) {
        const bool escaped_here = is_control(c) || is_deceptive(c) || is_noncharacter(c);
        ASSERT_EQ(escaped_there[c], escaped_here) << std::hex << static_cast<unsigned>(c);
    }
}

participant one_of(std::int64_t number, bool holding) {
    participant p;
    p.name = "lock-" + std::to_string(number);
    p.path = "/lock/" + p.name;
    p.session_id = p.czxid = number;
    p.ephemeral = p.session_alive = true;
    p.holding = holding;
    p.mode = lock_mode::exclusive;
    p.data = "host";
    return p;
}

lock_tree_entry entry_of(const std::string& path, std::vector<participant> all) {
    lock_tree_entry e;
    e.view.path = path;
    e.view.kind = lock_kind::mutex;
    e.view.sequence_left = 1000;
    for (const participant& p : all) {
        e.waiting += p.holding ? 0 : 1;
    }
    e.view.participants = std::move(all);
    return e;
}

reading reading_of(const std::vector<lock_tree_entry>& all) {
    reading r;
    for (const auto& e : all) {
        r.locks.emplace(e.view.path, e);
    }
    r.total.locks = all.size();
    r.at = std::chrono::system_clock::time_point(1'795'000'000s);
    return r;
}

TEST(ReadingChanges, AreNoneIfOnlyTimeHasPassed) {
    const auto before = reading_of({entry_of("/a", {one_of(1, true)})});
    auto now = before;
    now.locks.at("/a").view.participants[0].existed_for = 5s;
    now.at += 5s;
    EXPECT_FALSE(changes_json(before, now));
}

TEST(ReadingChanges, NameLocksThatCameWentAndChanged) {
    const auto before = reading_of({entry_of("/a", {one_of(1, true), one_of(2, false)}),
                                    entry_of("/b", {one_of(3, true)}),
                                    entry_of("/same", {one_of(4, true)})});
    const auto now = reading_of({entry_of("/a", {one_of(2, true)}),
                                 entry_of("/c", {one_of(5, true), one_of(6, false)}),
                                 entry_of("/same", {one_of(4, true)})});
    const auto changes = *changes_json(before, now);
    EXPECT_EQ(changes["removed"], json_object::parse(R"(["/b"])"));
    ASSERT_THAT(changes["changed"], SizeIs(2));
    EXPECT_EQ(changes["changed"][0]["path"], "/a");
    EXPECT_EQ(changes["changed"][1]["waiters"], 1);
    EXPECT_THAT(changes["changed"][1]["participants"], SizeIs(1)) << "the holders only";
    std::string events;
    for (const auto& e : changes["events"]) {
        events += e["path"].get<std::string>() + ' ' + e["event"].get<std::string>() + "; ";
    }
    EXPECT_EQ(events,
              "/b released; /b kind; /a released; /a granted; /c kind; /c granted; /c joined; ");
    EXPECT_EQ(changes["graph_changed"], false);
}

TEST(ReadingChanges, TellAtMostTwoHundredEvents) {
    std::vector<participant> many{one_of(1, true)};
    for (int i = 2; i <= 300; ++i) {
        many.push_back(one_of(i, false));
    }
    const auto changes = *changes_json(reading_of({entry_of("/a", {one_of(1, true)})}),
                                       reading_of({entry_of("/a", many)}));
    EXPECT_THAT(changes["events"], SizeIs(200));
    EXPECT_EQ(changes["events_left_out"], 99);
}

TEST(BoundedWaits, LeaveQueuesOutThatWouldBeTooMany) {
    const auto small = entry_of("/a", {one_of(1, true), one_of(2, false)}).view;
    auto large = entry_of("/b", {one_of(3, true)}).view;
    for (int i = 4; i < 20; ++i) {
        large.participants.push_back(one_of(i, false));
    }
    std::size_t left_out = 0;
    EXPECT_THAT(bounded_waits({large, small}, 10, left_out), SizeIs(1));
    EXPECT_EQ(left_out, 1U);
    left_out = 0;
    EXPECT_FALSE(bounded_waits({large, small}, 100, left_out).empty());
    EXPECT_EQ(left_out, 0U);
}

class LockMetrics : public ::testing::Test {
protected:
    std::string text(const reading& r, std::chrono::nanoseconds later = 0s) {
        reading_progress p;
        p.last = std::make_shared<const reading>(r);
        p.complete = r.began;
        return metrics_.text(snapshot(p), r.began + later);
    }

    lock_metrics metrics_{2};
};

TEST_F(LockMetrics, GrowOlderBetweenReadings) {
    auto e = entry_of("/a", {one_of(1, true)});
    e.view.participants[0].created = reading_of({}).at - 10s;
    const auto r = reading_of({e});
    EXPECT_THAT(text(r), HasSubstr("age_seconds{path=\"/a\",kind=\"mutex\"} 10\n"));
    const auto later = text(r, 5s);
    EXPECT_THAT(later,
                AllOf(HasSubstr("age_seconds{path=\"/a\",kind=\"mutex\"} 15\n"),
                      HasSubstr("latchkey_reading_age_seconds 5\n")));
}

TEST_F(LockMetrics, TellWhetherACandidateLeads) {
    auto led = entry_of("/led", {one_of(1, true)});
    auto not_led = entry_of("/not", {one_of(1, false)});
    led.view.kind = not_led.view.kind = lock_kind::leader_election;
    EXPECT_THAT(
        text(reading_of({led, not_led})),
        AllOf(HasSubstr("latchkey_election_led{path=\"/led\",kind=\"leader_election\"} 1\n"),
              HasSubstr("latchkey_election_led{path=\"/not\",kind=\"leader_election\"} 0\n")));
    EXPECT_THAT(text(reading_of({entry_of("/m", {})})), Not(HasSubstr("election_led")));
}

TEST(Snapshot, SharesItsTexts) {
    reading_progress p;
    p.error = "no server";
    const snapshot none(p);
    EXPECT_THAT(*none.locks(),
                AllOf(HasSubstr("\"locks\":[]"), HasSubstr("\"error\":\"no server\"")));
    EXPECT_EQ(none.lock("/a"), nullptr);
    p.last = std::make_shared<const reading>(reading_of({entry_of("/a", {one_of(1, true)})}));
    const snapshot one(p);
    EXPECT_EQ(one.locks(), one.locks());
    EXPECT_EQ(one.locks_event(), one.locks_event()) << "a reader of events has no copy of its own";
    EXPECT_EQ(*one.locks_event(), *event_text("locks", *one.locks()));
    EXPECT_THAT(*one.lock("/a"), HasSubstr("\"type\":\"lock\""));
    EXPECT_EQ(one.lock("/b"), nullptr);
}

}  // namespace
}  // namespace latchkey::test
