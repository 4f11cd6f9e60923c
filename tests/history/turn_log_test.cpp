#include "turn_log.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::history {
namespace {

class TurnLog : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(file_); }

    history read() {
        history h;
        read_turns(file_, 3, h);
        return h;
    }

    std::filesystem::path file_ =
        std::filesystem::temp_directory_path() / ("latchkey-turns-" + std::to_string(::getpid()));
};

TEST_F(TurnLog, GivesBackWhatWasTold) {
    {
        turn_log log(file_);
        log.session(-77);
        log.invoked(1, nanoseconds(10), {.locks = {"/lock"}});
        log.invoked(2, nanoseconds(11), {.locks = {"/other"}});
        log.reserved(1, "/lock/a");
        log.reserved(1, "/lock/b");
        log.granted(1, 42, {"/lock/b"}, -77, {nanoseconds(20), true, nanoseconds(90)});
        log.failed(2, nanoseconds(21), "no");
        log.wrote(1, {nanoseconds(30), true});
        log.guarded(1, {.token = 42, .number = 7, .told = guarded_effect::outcome::refused});
        log.saw(1, {nanoseconds(95), false, nanoseconds(90)});
        log.ended(1, nanoseconds(96));
        log.observes(5, nanoseconds(97), "/lock");
        log.observed(5, {nanoseconds(98), "/lock/b", 42});
        log.observed(5, {nanoseconds(99), "", 0});
        log.observed_last(5, nanoseconds(100));
    }
    const history h = read();
    EXPECT_EQ(h.sessions.at(-77), 3);
    ASSERT_EQ(h.observers.size(), 1U);
    const observer& o = h.observers[0];
    EXPECT_EQ(o.worker, 3);
    EXPECT_EQ(o.lock, "/lock");
    EXPECT_EQ(o.begun, nanoseconds(97));
    EXPECT_EQ(o.ended, nanoseconds(100));
    ASSERT_EQ(o.told.size(), 2U);
    EXPECT_EQ(o.told[0].znode, "/lock/b");
    EXPECT_EQ(o.told[0].token, 42);
    EXPECT_EQ(o.told[1].znode, "");
    EXPECT_EQ(o.told[1].at, nanoseconds(99));
    ASSERT_EQ(h.turns.size(), 2U);
    const turn& t = h.turns[0];
    EXPECT_EQ(t.worker, 3);
    EXPECT_EQ(t.lock, "/lock");
    EXPECT_EQ(t.invoked, nanoseconds(10));
    EXPECT_EQ(t.znodes, (std::vector<std::string>{"/lock/a", "/lock/b"}));
    EXPECT_EQ(t.granted, nanoseconds(20));
    EXPECT_EQ(t.token, 42);
    EXPECT_EQ(t.session, -77);
    ASSERT_EQ(t.observations.size(), 2U);
    EXPECT_TRUE(t.observations[0].valid);
    EXPECT_FALSE(t.observations[1].valid);
    EXPECT_EQ(t.observations[1].valid_until, nanoseconds(90));
    ASSERT_EQ(t.effects.size(), 1U);
    EXPECT_TRUE(t.effects[0].applied);
    ASSERT_EQ(t.guarded.size(), 1U);
    EXPECT_EQ(t.guarded[0].token, 42);
    EXPECT_EQ(t.guarded[0].number, 7);
    EXPECT_EQ(t.guarded[0].told, guarded_effect::outcome::refused);
    EXPECT_EQ(t.ended, nanoseconds(96));
    EXPECT_EQ(h.turns[1].failure, "no");
}

TEST_F(TurnLog, GivesBackWhatWasAskedFor) {
    turn_log(file_).invoked(7,
                            nanoseconds(10),
                            {.locks = {"/lock"},
                             .mode = lock_mode::upgrade,
                             .permits = 3,
                             .converts = 6,
                             .silent = true});
    const turn t = read().turns.at(0);
    EXPECT_EQ(t.asked.locks, std::vector<std::string>{"/lock"});
    EXPECT_EQ(t.asked.mode, lock_mode::upgrade);
    EXPECT_EQ(t.asked.permits, 3U);
    EXPECT_EQ(t.asked.converts, 6);
    EXPECT_TRUE(t.asked.silent);
}

TEST_F(TurnLog, PutsAPlaceThatIsToldLateBeforeTheGrant) {
    {
        turn_log log(file_);
        log.invoked(1, nanoseconds(10), {.locks = {"/s"}});
        log.granted(1, 42, {"/s/permits/p"}, -77, {nanoseconds(20), true, nanoseconds(90)});
        log.reserved(1, "/s/queue/q");
        log.reserved(1, "/s/permits/p");
    }
    EXPECT_EQ(read().turns.at(0).znodes, (std::vector<std::string>{"/s/queue/q", "/s/permits/p"}));
}

TEST_F(TurnLog, GivesBackHowARoundWasLeft) {
    {
        turn_log log(file_);
        log.invoked(1, nanoseconds(10), {.locks = {"/barrier"}});
        log.leaving(1, nanoseconds(20));
        log.left(1, nanoseconds(30), true);
    }
    const turn t = read().turns.at(0);
    EXPECT_EQ(t.leaving, nanoseconds(20));
    EXPECT_EQ(t.ended, nanoseconds(30));
    EXPECT_TRUE(t.all_left);
}

TEST_F(TurnLog, MakesATurnOfEachLockOfAnAttemptForSeveral) {
    {
        turn_log log(file_);
        log.invoked(1, nanoseconds(10), {.locks = {"/a", "/ab"}});
        log.reserved(1, "/a/x");
        log.reserved(1, "/ab/y");
        log.granted(1, 42, {"/a/x", "/ab/y"}, -77, {nanoseconds(20), true, nanoseconds(90)});
    }
    const history h = read();
    ASSERT_EQ(h.turns.size(), 2U);
    EXPECT_EQ(h.turns[0].lock, "/a");
    EXPECT_EQ(h.turns[0].znodes, std::vector<std::string>{"/a/x"});
    EXPECT_EQ(h.turns[1].lock, "/ab");
    EXPECT_EQ(h.turns[1].znodes, std::vector<std::string>{"/ab/y"});
    EXPECT_EQ(h.turns[1].token, 42);
}

TEST_F(TurnLog, LeavesOutTheLineThatAKilledProcessDidNotFinish) {
    turn_log(file_).invoked(1, nanoseconds(10), {.locks = {"/lock"}});
    std::ofstream(file_, std::ios::app) << R"({"attempt":1,"what":"ended","at":5})";
    const history h = read();
    ASSERT_EQ(h.turns.size(), 1U);
    EXPECT_FALSE(h.turns[0].ended);
}

TEST_F(TurnLog, RefusesLinesItDoesNotKnow) {
    std::ofstream(file_) << R"({"attempt":1,"what":"ended","at":5})" << '\n';
    EXPECT_THROW(read(), std::runtime_error);
    turn_log(file_).invoked(1, nanoseconds(10), {.locks = {"/lock"}});
    std::ofstream(file_)
        << R"({"attempt":1,"what":"invoked","at":5,"locks":["/l"],"mode":2,"permits":1,"silent":false})"
        << '\n'
        << R"({"attempt":1,"what":"danced","at":5})" << '\n';
    EXPECT_THROW(read(), std::runtime_error);
}

}  // namespace
}  // namespace latchkey::history
