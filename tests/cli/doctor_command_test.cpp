#include <latchkey/mutex.hpp>

#include "queued.hpp"
#include "seeing_fixture.hpp"
#include "too_slow.hpp"

#include <algorithm>
#include <memory>
#include <stop_token>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DoctorCommand : public seeing_fixture {
protected:
    static bool has_check(const std::vector<nlohmann::json>& all, const std::string& check) {
        return std::any_of(all.begin(), all.end(), [&](const nlohmann::json& o) {
            return o.contains("check") && o["check"] == check;
        });
    }
};

TEST_F(DoctorCommand, FindsADeadlockOfTwoPrograms) {
    mutex a_one(one_, path_ + "/a");
    mutex b_one(one_, path_ + "/b");
    mutex a_two(two_, path_ + "/a");
    mutex b_two(two_, path_ + "/b");
    const hold a = a_one.acquire();
    const hold b = b_two.acquire();
    std::stop_source stop;
    auto one_waits = queued_until(stop.get_token(), b_one);
    const auto no_deadlock = run("doctor", {path_});
    EXPECT_EQ(no_deadlock->wait(), 0) << no_deadlock->out() << no_deadlock->err();
    auto two_waits = queued_until(stop.get_token(), a_two);
    const auto found = run("doctor", {path_});
    EXPECT_EQ(found->wait(), 1) << found->err();
    EXPECT_THAT(found->out(),
                AllOf(HasSubstr("PROBLEM: deadlock"),
                      HasSubstr("waits for " + path_ + "/a, which "),
                      HasSubstr("waits for " + path_ + "/b, which "),
                      HasSubstr("2 locks below " + path_ + ": 1 problem,")));
    const auto as_json = run("doctor", {"--json", path_});
    EXPECT_EQ(as_json->wait(), 1);
    const auto all = objects_in(as_json->out());
    EXPECT_EQ(all.front()["check"], "deadlock");
    EXPECT_EQ(all.front()["waits"].size(), 2U);
    EXPECT_EQ(all.back()["type"], "end");
    EXPECT_EQ(all.back()["problems"], 1);
    stop.request_stop();
    static_cast<void>(one_waits.get());
    static_cast<void>(two_waits.get());
}

TEST_F(DoctorCommand, FindsADeadlockWithCuratorsParticipants) {
    put(path_);
    put(path_ + "/a");
    put(path_ + "/a/_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-0000000000",
        "10.0.0.1",
        create_mode::ephemeral);
    mutex b(two_, path_ + "/b");
    const hold held = b.acquire();
    put(path_ + "/b/_c_7c9e6679-7425-40de-944b-e07fc1f90ae7-lock-0000000001",
        "10.0.0.1",
        create_mode::ephemeral);
    mutex a(two_, path_ + "/a");
    std::stop_source stop;
    auto waits = queued_until(stop.get_token(), a);
    const auto found = run("doctor", {path_});
    EXPECT_EQ(found->wait(), 1);
    EXPECT_THAT(found->out(), AllOf(HasSubstr("deadlock"), HasSubstr("10.0.0.1")));
    stop.request_stop();
    static_cast<void>(waits.get());
}

TEST_F(DoctorCommand, FindsWhatBlocksALockForEver) {
    put(path_);
    put(path_ + "/a");
    put(path_ + "/a/" + curators_name);
    put(path_ + "/b");
    put(path_ + "/b/" + curators_name, {}, create_mode::ephemeral);
    put(path_ + "/b/lock-12");
    put(path_ + "/c");
    put(path_ + "/c/" + curators_name, {}, create_mode::ephemeral);
    put(path_ + "/c/_c_x-__READ__0000000002", {}, create_mode::ephemeral);
    const auto found = run("doctor", {"--json", path_});
    EXPECT_EQ(found->wait(), 1);
    const auto all = objects_in(found->out());
    for (const char* check : {"holder_without_session", "malformed_children", "mixed_kinds"}) {
        EXPECT_TRUE(has_check(all, check)) << check;
    }
    EXPECT_TRUE(has_check(all, "open_access")) << "the servers show access control lists";
}

TEST_F(DoctorCommand, AdviceCountsOnlyIfStrict) {
    mutex m(one_, path_ + "/a");
    const hold h = m.acquire();
    const auto lenient = run("doctor", {"-t", "30", path_});
    EXPECT_EQ(lenient->wait(), 0);
    EXPECT_THAT(lenient->out(), HasSubstr("advice: open_access"));
    EXPECT_EQ(run("doctor", {"--strict", path_})->wait(), 1);
}

TEST_F(DoctorCommand, ComparesTheSessionTimeoutWithTheTicksOfTheServers) {
    put(path_);
    std::unique_ptr<program> few_ticks;
    if (!eventually([&] {
            few_ticks = run("doctor", {"--json", "-t", "0.5", path_});
            return few_ticks->wait() != 2;
        })) {
        GTEST_SKIP() << too_slow << "no server answered within half a second";
    }
    EXPECT_EQ(few_ticks->wait(), 0) << few_ticks->err();
    EXPECT_TRUE(has_check(objects_in(few_ticks->out()), "session_timeout_in_ticks"))
        << few_ticks->out();
    const auto many_ticks = run("doctor", {"--json", "-t", "30", path_});
    EXPECT_EQ(many_ticks->wait(), 0) << many_ticks->err();
    EXPECT_FALSE(has_check(objects_in(many_ticks->out()), "session_timeout_in_ticks"))
        << many_ticks->out();
}

TEST_F(DoctorCommand, SaysWhenItCannotTell) {
    EXPECT_EQ(run("doctor", {path_ + "-none"})->wait(), 2);
    program_surroundings nowhere;
    nowhere.environment["LATCHKEY_SERVERS"] = "127.0.0.1:1";
    EXPECT_EQ(run("doctor", {"-t", "0.5"}, nowhere)->wait(), 2);
    put(path_);
    put(path_ + "/secret",
        {},
        create_mode::persistent,
        {{"digest", "nobody:0000000000000000000000000000"}});
    const auto part = run("doctor", {path_});
    EXPECT_EQ(part->wait(), 2);
    EXPECT_THAT(part->out(), HasSubstr("not everything was read"));
    EXPECT_EQ(run("doctor", {"--max-znodes", "0"})->wait(), 64);
}

}  // namespace
}  // namespace latchkey::test
