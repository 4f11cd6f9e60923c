#include "cli_words.hpp"
#include "look/health_check.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace latchkey::cli;
using namespace std::chrono_literals;

constexpr wall_clock::time_point noon{std::chrono::seconds(1'795'000'000)};

participant holder_of(std::int64_t session, bool holding = true) {
    participant p;
    p.name = "lock-" + std::to_string(session);
    p.path = "/lock/" + p.name;
    p.session_id = session;
    p.ephemeral = p.session_alive = session != 0;
    p.holding = holding;
    p.data = "host";
    return p;
}

lock_tree_entry lock_of(const std::string& path, std::vector<participant> all = {holder_of(1)}) {
    lock_tree_entry e;
    e.view.path = path;
    e.view.kind = lock_kind::mutex;
    e.view.participants = std::move(all);
    e.view.sequence_left = 2'000'000'000;
    e.access = {{"auth", "", permission::all}};
    return e;
}

lock_tree_entry directory_of(const std::string& path) {
    lock_tree_entry e;
    e.view.path = path;
    e.view.kind = lock_kind::unknown;
    e.stat.child_version = 4;
    e.stat.created = noon - 1h;
    return e;
}

words checks_of(const std::vector<finding>& all) {
    words names;
    for (const finding& f : all) {
        names.push_back(f.check);
    }
    return names;
}

struct health_case {
    const char* name;
    void (*change)(lock_tree_entry& e);
    words checks;
};

class Health : public ::testing::TestWithParam<health_case> {};

TEST_P(Health, OfOneLock) {
    lock_tree_entry e = lock_of("/lock");
    GetParam().change(e);
    health_check health(noon);
    health.look_at(e);
    EXPECT_EQ(checks_of(health.findings()), GetParam().checks);
    for (const finding& f : health.findings()) {
        EXPECT_FALSE(f.what.empty() || f.why.empty() || f.remedy.empty() || f.paths.empty());
        EXPECT_THAT(text_of(f), HasSubstr("/lock"));
    }
}

const health_case health_cases[] = {
    {"NothingIsWrong", [](lock_tree_entry&) {}, {}},
    {"HolderIsPersistent",
     [](lock_tree_entry& e) { e.view.participants = {holder_of(0)}; },
     {"holder_without_session"}},
    {"WaiterIsPersistent",
     [](lock_tree_entry& e) { e.view.participants.push_back(holder_of(0, false)); },
     {"waiter_without_session"}},
    {"BarrierIsPersistentByItsNature",
     [](lock_tree_entry& e) {
         e.view.kind = lock_kind::barrier;
         e.view.participants = {holder_of(0)};
     },
     {}},
    {"MalformedChild",
     [](lock_tree_entry& e) { e.view.malformed = {"lock-12"}; },
     {"malformed_children"}},
    {"ForeignChild", [](lock_tree_entry& e) { e.view.foreign = {"notes"}; }, {"foreign_children"}},
    {"ParticipantOfAnotherKind",
     [](lock_tree_entry& e) { e.view.foreign = {"_c_x-__READ__0000000001"}; },
     {"mixed_kinds"}},
    {"ParticipantOfAnotherKindInAQueue",
     [](lock_tree_entry& e) {
         e.view.kind = lock_kind::semaphore;
         e.view.foreign = {"queue/_c_x-lock-0000000001"};
     },
     {"mixed_kinds"}},
    {"FewSequenceNumbers",
     [](lock_tree_entry& e) { e.view.sequence_left = 1000; },
     {"sequence_head_room"}},
    {"OpenToAll", [](lock_tree_entry& e) { e.access = open_unsafe_acl(); }, {"open_access"}},
    {"ReadableByAll",
     [](lock_tree_entry& e) {
         e.access = acl{{"world", "anyone", permission::read}};
     },
     {}},
    {"AccessIsNotKnown", [](lock_tree_entry& e) { e.access.reset(); }, {}},
    {"MayNotBeRead", [](lock_tree_entry& e) { e.ec = errc::not_authorized; }, {"unreadable"}},
};

INSTANTIATE_TEST_SUITE_P(, Health, ::testing::ValuesIn(health_cases), [](const auto& one) {
    return one.param.name;
});

TEST(HealthCheck, EmptyDirectoriesCountIfTheyWereUsedAndAreOld) {
    health_check health(noon);
    health.look_at(directory_of("/a"));
    health.look_at(directory_of("/b"));
    auto never_used = directory_of("/c");
    never_used.stat.child_version = 0;
    auto new_one = directory_of("/d");
    new_one.stat.created = noon - 1min;
    auto with_data = directory_of("/e");
    with_data.stat.data_size = 1;
    auto with_children = directory_of("/f");
    with_children.stat.child_count = 1;
    for (const auto& e : {never_used, new_one, with_data, with_children}) {
        health.look_at(e);
    }
    ASSERT_THAT(checks_of(health.findings()), ElementsAre("empty_directory"));
    EXPECT_THAT(health.findings()[0].paths, ElementsAre("/a", "/b"));
    EXPECT_EQ(health.findings()[0].count, 2U);
    EXPECT_EQ(health.locks(), 0U);
}

TEST(HealthCheck, AdviceOfOneKindIsOneFinding) {
    health_check health(noon);
    for (int i = 0; i < 1000; ++i) {
        auto e = lock_of("/lock" + std::to_string(i));
        e.access = open_unsafe_acl();
        health.look_at(e);
    }
    ASSERT_THAT(health.findings(), SizeIs(1));
    EXPECT_EQ(health.findings()[0].count, 1000U);
    EXPECT_THAT(health.findings()[0].paths, SizeIs(5));
    EXPECT_EQ(health.locks(), 1000U);
    EXPECT_THAT(health.contended(), IsEmpty()) << "no participant waits";
}

TEST(HealthCheck, ParticipantsWithoutSessionsAreOneFindingForHoldersAndOneForWaiters) {
    health_check health(noon);
    for (int i = 0; i < 100; ++i) {
        health.look_at(lock_of("/lock" + std::to_string(i),
                               {holder_of(0), holder_of(0, false), holder_of(0, false)}));
    }
    const auto found = health.findings();
    ASSERT_THAT(checks_of(found), ElementsAre("holder_without_session", "waiter_without_session"));
    EXPECT_EQ(found[0].count, 100U);
    EXPECT_EQ(found[1].count, 200U);
    EXPECT_THAT(found[1].paths, SizeIs(5));
    EXPECT_THAT(text_of(found[1]), HasSubstr("200 paths (/lock/lock-0, "));
    EXPECT_EQ(found[0].how_bad, finding::level::problem);
}

TEST(HealthCheck, DirectoriesOfOtherProgramsWithAChildLeasesAreNoFinding) {
    const auto findings_with = [](const char* name) {
        auto dhcp = lock_of("/dhcp", {holder_of(0)});
        dhcp.view.kind = lock_kind::curator_semaphore;
        dhcp.view.participants.front().name = name;
        health_check health(noon);
        health.look_at(dhcp);
        return checks_of(health.findings());
    };
    EXPECT_THAT(findings_with("host1"), IsEmpty());
    EXPECT_THAT(findings_with("_c_0a1b-lease-0000000001"), ElementsAre("holder_without_session"));
}

TEST(HealthCheck, DeadlocksComeFirstWithNamesAndPaths) {
    health_check health(noon);
    auto odd = lock_of("/odd");
    odd.view.malformed = {"lock-12"};
    health.look_at(odd);
    for (const auto& [path, first, second] :
         {std::tuple("/a", 1, 2), std::tuple("/b", 2, 1), std::tuple("/c", 3, 3)}) {
        health.look_at(lock_of(path, {holder_of(first), holder_of(second, false)}));
    }
    health.add_deadlocks(find_deadlocks(health.contended()));
    const auto found = health.findings();
    ASSERT_THAT(checks_of(found),
                ElementsAre("deadlock", "malformed_children", "waits_for_itself"));
    EXPECT_THAT(found[0].paths, ElementsAre("/a", "/b"));
    EXPECT_THAT(text_of(found[0]), HasSubstr("host waits for /a, which host holds"));
    const auto json = json_of(found[0]);
    EXPECT_EQ(json["waits"].size(), 2U);
    EXPECT_EQ(json["waits"][0]["waiter"]["session"], "0x2");
    EXPECT_EQ(json["waits"][0]["blocker"]["session"], "0x1");
}

TEST(HealthCheck, TimeoutsAreComparedWithWhatTheServersGrant) {
    const auto checks = [](auto asked, auto granted, auto least) {
        health_check health(noon);
        health.look_at_timeouts(asked, granted, least);
        return checks_of(health.findings());
    };
    EXPECT_THAT(checks(10s, 10s, 4s), IsEmpty());
    EXPECT_THAT(checks(10s, 10s, 0s), IsEmpty()) << "not known";
    EXPECT_THAT(checks(10s, 12s, 4s), ElementsAre("session_timeout"));
    EXPECT_THAT(checks(8s, 8s, 4s), ElementsAre("session_timeout_in_ticks"));
}

}  // namespace
}  // namespace latchkey::test
