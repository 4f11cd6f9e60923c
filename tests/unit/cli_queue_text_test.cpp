#include "cli_words.hpp"
#include "look/member_changes.hpp"
#include "look/owner_text.hpp"
#include "look/queue_changes.hpp"
#include "look/queue_json.hpp"
#include "look/queue_text.hpp"
#include "options/duration_text.hpp"
#include "options/owner_record.hpp"
#include "output/screen.hpp"
#include "run/waiting_line.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace latchkey::cli;
using namespace std::chrono_literals;

constexpr wall_clock::time_point present{std::chrono::seconds(1'795'000'000)};

participant participant_of(std::int64_t session, bool holding) {
    participant p;
    p.name = "_c_x-lock-000000000" + std::to_string(session);
    p.path = "/lock/" + p.name;
    p.session_id = session;
    p.czxid = 100 + session;
    p.position = static_cast<std::size_t>(session - 1);
    p.ephemeral = p.session_alive = true;
    p.holding = holding;
    p.mode = lock_mode::exclusive;
    p.created = present - 12min;
    p.identified = identity{.host = "ci-4",
                            .user = "build",
                            .program = "backup",
                            .pid = 812,
                            .since = present,
                            .mode = "exclusive",
                            .id = ""};
    return p;
}

queue_view mutex_of(std::vector<participant> all) {
    queue_view v;
    v.path = "/lock";
    v.kind = lock_kind::mutex;
    v.participants = std::move(all);
    return v;
}

TEST(AgeText, HasTheLargestUnitOfWhichThereAreTwo) {
    const std::pair<std::chrono::milliseconds, const char*> cases[] = {{-5s, "0 s"},
                                                                       {1999ms, "1 s"},
                                                                       {119s, "119 s"},
                                                                       {120s, "2 min"},
                                                                       {119min, "119 min"},
                                                                       {2h, "2 h"},
                                                                       {47h, "47 h"},
                                                                       {48h, "2 d"}};
    for (const auto& [age, text] : cases) {
        EXPECT_EQ(age_text(age), text);
    }
}

TEST(AgeText, IsTheLongerOfWhatTwoClocksSay) {
    participant p = participant_of(1, true);
    EXPECT_EQ(age_of(p, present), 12min);
    p.existed_for = 13min;
    EXPECT_EQ(age_of(p, present), 13min);
}

TEST(QueueText, SaysThatADelayIsDue) {
    queue_view v = mutex_of({participant_of(1, false)});
    v.delays = {{"/lock/delay-x-800030000000000007", 3s}};
    EXPECT_THAT(queue_text(v, {}), HasSubstr("3 s more"));
    EXPECT_THAT(queue_text(v, {}), HasSubstr("/lock/delay-x-800030000000000007"));
}

TEST(WhoText, IsWhatIsKnown) {
    participant p = participant_of(1, true);
    EXPECT_EQ(who_text(p), "build@ci-4 (pid 812, backup)");
    p.identified->id = "nightly\x1b";
    EXPECT_EQ(who_text(p), "nightly\\x1b, build@ci-4 (pid 812, backup)");
    p.identified.reset();
    EXPECT_EQ(who_text(p), "session 0x1");
    p.data = "10.0.0.1";
    EXPECT_EQ(who_text(p), "10.0.0.1");
    p.id = "host2\x1b[31m";
    EXPECT_EQ(who_text(p), "host2\\x1b[31m") << "no other program's bytes reach the terminal";
    p.id = p.data = "";
    p.readable = false;
    EXPECT_THAT(who_text(p), HasSubstr("hidden"));
}

TEST(QueueText, IsATableInTheOrderOfTheQueue) {
    const std::string text =
        queue_text(mutex_of({participant_of(1, true), participant_of(2, false)}), {.now = present});
    EXPECT_EQ(text,
              "/lock: mutex, 1 holding, 1 waiting\n"
              "  POS  STATE  MODE       WHO                           "
              "SINCE                 AGE     TOKEN  NODE\n"
              "  0    holds  exclusive  build@ci-4 (pid 812, backup)  "
              "2026-11-18T10:54:40Z  12 min  -      _c_x-lock-0000000001\n"
              "  1    waits  exclusive  build@ci-4 (pid 812, backup)  "
              "2026-11-18T10:54:40Z  12 min  -      _c_x-lock-0000000002\n");
}

TEST(QueueText, SaysByTheServersClockSinceWhenEvenIfThatOfThisMachineIsWrong) {
    const queue_view v = mutex_of({participant_of(1, true)});
    for (const auto shift : {-87600h, -1h, 0h, 1h, 87600h}) {
        EXPECT_THAT(queue_text(v, {.now = present + shift}), HasSubstr(" 2026-11-18T10:54:40Z "));
    }
    participant hidden = participant_of(1, true);
    hidden.readable = false;
    hidden.czxid = 0;
    EXPECT_EQ(since_text(hidden), "-");
}

TEST(QueueText, NamesWhatStandsInTheWay) {
    queue_view v = mutex_of({participant_of(1, true)});
    v.participants[0].ephemeral = false;
    v.malformed = {"lock-12"};
    v.foreign = {"a\n", "b", "c", "d", "e", "f"};
    const std::string text = queue_text(v, {.now = present, .color = true});
    EXPECT_THAT(text, HasSubstr("[no session]"));
    EXPECT_THAT(text, HasSubstr("nothing more is granted: lock-12"));
    EXPECT_THAT(text, HasSubstr("takes no part: a\\n b c d e and 1 more"));
    EXPECT_THAT(text, HasSubstr("\x1b[1m"));
    EXPECT_THAT(queue_text(v, {.now = present}), Not(HasSubstr("\x1b")));
}

TEST(SummaryText, SaysWhatThePathIs) {
    queue_view v;
    EXPECT_THAT(summary_text(v), HasSubstr("does not exist"));
    v.kind = lock_kind::unknown;
    EXPECT_THAT(summary_text(v), HasSubstr("not in use"));
    v.kind = lock_kind::semaphore;
    v.capacity = 3;
    v.taken = 2;
    EXPECT_EQ(summary_text(v), "semaphore, 2 of 3 permits taken, 0 waiting");
    v.kind = lock_kind::leader_election;
    EXPECT_EQ(summary_text(v), "leader_election, no leader, 0 waiting");
}

TEST(QueueJson, HasStableFieldsAndEscapesAll) {
    queue_view v = mutex_of({participant_of(1, true)});
    v.participants[0].identified->host = "h\xff\u202e\n";
    v.participants[0].id = "nightly";
    v.participants[0].data = "worker\x1b[2J";
    v.participants[0].library = participant_library::kazoo;
    v.participants[0].token = fencing_token{.zxid = 5};
    const std::string line = line_of(json_of(v));
    EXPECT_THAT(line, HasSubstr(R"("host":"h\ufffd\u202e\n")"));
    const auto read = nlohmann::json::parse(line);
    EXPECT_EQ(read["path"], "/lock");
    EXPECT_EQ(read["kind"], "mutex");
    EXPECT_EQ(read["holders"], 1);
    EXPECT_EQ(read["waiters"], 0);
    EXPECT_EQ(read["capacity"], nullptr);
    EXPECT_EQ(read["leader"], nullptr);
    const auto& p = read["participants"][0];
    EXPECT_EQ(p["state"], "holds");
    EXPECT_EQ(p["session"], "0x1");
    EXPECT_EQ(p["token"], "5120");
    EXPECT_EQ(p["since"], "2026-11-18T11:06:40.000Z");
    EXPECT_EQ(p["pid"], 812);
    EXPECT_EQ(p["id"], "nightly");
    EXPECT_EQ(p["library"], "kazoo");
    EXPECT_EQ(p["data"], "worker\x1b[2J");
}

words events_between(const std::optional<queue_view>& before, const queue_view& now) {
    words all;
    for (const queue_change& c : changes_between(before, now)) {
        all.push_back(std::string(c.event) +
                      (c.who ? ' ' + std::to_string(c.who->session_id) : ""));
    }
    return all;
}

TEST(QueueChanges, AreWhatDiffers) {
    const auto one = mutex_of({participant_of(1, true), participant_of(2, false)});
    auto two = mutex_of({participant_of(2, true), participant_of(3, false)});
    EXPECT_THAT(events_between(std::nullopt, one), ElementsAre("kind", "present 1", "present 2"));
    EXPECT_THAT(events_between(one, one), IsEmpty());
    EXPECT_THAT(events_between(one, two), ElementsAre("released 1", "granted 2", "joined 3"));
    EXPECT_THAT(events_between(two, one), ElementsAre("left 3", "granted 1", "demoted 2"));
    two.participants[1].mode = lock_mode::shared;
    auto three = mutex_of({participant_of(2, true), participant_of(3, false)});
    three.malformed = {"lock-1"};
    EXPECT_THAT(events_between(two, three), ElementsAre("malformed", "mode 3"));
    queue_view none;
    EXPECT_THAT(events_between(one, none), ElementsAre("released 1", "left 2", "kind"));
    EXPECT_THAT(events_between(none, mutex_of({participant_of(4, true)})),
                ElementsAre("kind", "granted 4"));
}

TEST(QueueChanges, AreOneLineEach) {
    const auto now = mutex_of({participant_of(1, true)});
    const auto all = changes_between(std::nullopt, now);
    EXPECT_EQ(text_of(all[0], now), "kind     mutex");
    EXPECT_EQ(text_of(all[1], now),
              "present  holds   exclusive build@ci-4 (pid 812, backup) _c_x-lock-0000000001");
    const auto json = json_of(all[1], now);
    EXPECT_EQ(json["event"], "present");
    EXPECT_EQ(json["participant"]["state"], "holds");
}

TEST(Screen, CutsWhatDoesNotFit) {
    const std::string begin = "\x1b[H";
    const std::string end = "\x1b[J";
    EXPECT_EQ(drawn("abcdef\nx\n", {.rows = 5, .columns = 4}),
              begin + "abcd\x1b[0m\x1b[K\nx\x1b[K\n" + end);
    EXPECT_EQ(drawn("\x1b[1mab\x1b[0m\u00e4\n", {.rows = 5, .columns = 3}),
              begin + "\x1b[1mab\x1b[0m\u00e4\x1b[K\n" + end);
    EXPECT_EQ(drawn("1\n2\n3\n4\n", {.rows = 4, .columns = 80}),
              begin + "1\x1b[K\n2\x1b[K\n... and 2 more lines\x1b[K\n" + end);
    EXPECT_EQ(drawn("", {.rows = 1, .columns = 1}), begin + end);
}

// ---- whose a znode is, and who waits ----

TEST(OwnerRecord, IsShownByItsIdAndAge) {
    EXPECT_THAT(owner_text(owner_record("permit", "nightly", "see wiki"), 12min),
                AllOf(StartsWith("nightly, "), EndsWith(", 12 min)")));
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
    const std::vector<group_member> none;
    EXPECT_EQ(changes_between(none, none), changes());
    EXPECT_EQ(changes_between({}, {a, b}), (changes{{"joined", a}, {"joined", b}}));
    EXPECT_EQ(changes_between({a, b}, {b, c}), (changes{{"left", a}, {"joined", c}}));
    EXPECT_EQ(changes_between({b, c}, {a, b_with_data}),
              (changes{{"joined", a}, {"changed", b_with_data}, {"left", c}}));
    EXPECT_EQ(changes_between({a, b}, {a, b_again}), (changes{{"left", b}, {"joined", b_again}}));
}

TEST(PlaceAmong, CountsThoseWithLowerNumbers) {
    const words queue{"_c_z-lock-0000000009", "x-lock-0000000010", "_c_a-lock-0000000011", "notes"};
    const auto place = [&](const char* own) { return place_among(queue, own); };
    EXPECT_EQ(place("_c_z-lock-0000000009"), (line_place{0, ""}));
    EXPECT_EQ(place("x-lock-0000000010"), (line_place{1, "_c_z-lock-0000000009"}));
    EXPECT_EQ(place("_c_a-lock-0000000011"), (line_place{2, "x-lock-0000000010"}));
    EXPECT_EQ(place("_c_b-lock-0000000012"), std::nullopt) << "it has left";
    EXPECT_EQ(place("notes"), std::nullopt);
    EXPECT_EQ(place(""), (line_place{3, "_c_z-lock-0000000009"})) << "the first of an election";
    EXPECT_EQ(place_among({}, ""), (line_place{0, ""}));
}

TEST(PlaceAmong, ReadersWaitForWritersAlone) {
    const words queue{
        "a__READ__0000000001", "b__WRIT__0000000002", "c__READ__0000000003", "d__WRIT__0000000004"};
    EXPECT_EQ(place_among(queue, "c__READ__0000000003"), (line_place{1, "b__WRIT__0000000002"}));
    EXPECT_EQ(place_among(queue, "d__WRIT__0000000004"), (line_place{3, "c__READ__0000000003"}));
    EXPECT_EQ(place_among(queue, "a__READ__0000000001"), (line_place{0, ""}));
}

TEST(WaitingLineText, Ordinals) {
    for (const std::string& text :
         words_of("1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th 1013th")) {
        EXPECT_EQ(ordinal(std::stoul(text)), text);
    }
}

TEST(WaitingLineText, Clock) {
    EXPECT_EQ(clock_text(31s), "00:31");
    EXPECT_EQ(clock_text(59min + 59s), "59:59");
    EXPECT_EQ(clock_text(26h + 2min + 3s), "26:02:03");
}

}  // namespace
}  // namespace latchkey::test
