#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "inspect_fixture.hpp"
#include "queue/znode_names.hpp"

#include <string>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What inspect() shows of other libraries' znodes, and of znodes that should not be there.
class Inspect : public InspectTest {};

const std::string curators_lock = "_c_" + some_uuid + "-lock-0000000001";
const std::string gos_lock = "_c_" + plain_uuid + "-lock-0000000002";
const std::string kazoos_lock = plain_uuid + "__lock__0000000003";

// ---- other libraries ----

TEST_P(Inspect, MutexOfThreeLibrariesIsOneQueue) {
    make_directory();
    put(curators_lock, "10.0.0.1");
    put(gos_lock);
    put(kazoos_lock, "worker");
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::mutex);
    EXPECT_THAT(names(seen), ElementsAre(curators_lock, gos_lock, kazoos_lock));
    EXPECT_THAT(holders(seen), ElementsAre(0));
    EXPECT_EQ(seen.participants[0].library, participant_library::curator);
    EXPECT_EQ(seen.participants[1].library, participant_library::go);
    EXPECT_EQ(seen.participants[2].library, participant_library::kazoo);
    EXPECT_EQ(seen.participants[2].data, "worker");
    EXPECT_FALSE(seen.participants[0].identified);
    EXPECT_EQ(seen.participants[0].token.value().zxid, seen.participants[0].czxid);
}

TEST_P(Inspect, RecordOfAHolderWithADelayIsShownOnceItsHolderIsGone) {
    make_directory();
    const std::string holder = "_c_" + some_uuid + "-delay-lock-0000000007";
    const std::string record = "delay-" + some_uuid + "-800030000000000007";  // 3 s
    put(holder);
    put(record, {}, create_mode::persistent);
    put("_c_" + other_uuid + "-lock-0000000009", R"({"host":"ci-4","pid":812})");
    queue_view seen = look();
    EXPECT_THAT(holders(seen), ElementsAre(0));
    EXPECT_THAT(seen.delays, IsEmpty());
    EXPECT_THAT(seen.foreign, IsEmpty());
    world_->remove(path_ + '/' + holder);
    seen = look();
    EXPECT_THAT(holders(seen), IsEmpty()) << "the first waits for the delay";
    ASSERT_EQ(seen.delays.size(), 1U);
    EXPECT_EQ(seen.delays[0].path, path_ + '/' + record);
    EXPECT_EQ(seen.delays[0].length, 3s);
    world_->remove(path_ + "/_c_" + other_uuid + "-lock-0000000009");
    seen = look();
    EXPECT_EQ(seen.kind, lock_kind::mutex) << "a path with nothing else";
    EXPECT_EQ(seen.delays.size(), 1U);
    EXPECT_THAT(seen.foreign, IsEmpty());
}

TEST_P(Inspect, ReadWriteLockOfCuratorsHasReadersThatHold) {
    make_directory();
    put("_c_" + some_uuid + "-__READ__0000000001");
    put("_c_" + other_uuid + "-__READ__0000000002");
    put("_c_" + third_uuid + "-__WRIT__0000000003");
    put(plain_uuid + "-__READ__0000000004");
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::shared_mutex);
    EXPECT_THAT(holders(seen), ElementsAre(0, 1));
    EXPECT_EQ(seen.participants.at(2).mode, lock_mode::exclusive);
    EXPECT_EQ(seen.participants.at(3).library, participant_library::kazoo);
}

TEST_P(Inspect, SemaphoreOfCuratorsHasALeaseForEachPermit) {
    make_directory();
    for (const std::string directory : {"locks", "leases"}) {
        put(directory, {}, create_mode::persistent);
    }
    put("leases/_c_" + some_uuid + "-lease-0000000007", "10.0.0.1");
    put("leases/anything", {}, create_mode::persistent);
    put("locks/_c_" + other_uuid + "-lock-0000000009");
    put("locks/anything");
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::curator_semaphore);
    EXPECT_EQ(seen.taken, 2U) << "Curator counts every child";
    ASSERT_EQ(seen.participants.size(), 3U);
    EXPECT_THAT(holders(seen), ElementsAre(0, 1));
    EXPECT_EQ(seen.participants[0].library, participant_library::curator);
    EXPECT_FALSE(seen.participants[1].ephemeral);
    EXPECT_THAT(seen.foreign, ElementsAre("locks/anything"));
    EXPECT_EQ(seen.sequence_left, last_sequence - 9);
}

TEST_P(Inspect, LeaderLatchOfCuratorsHasALeaderWithoutAToken) {
    make_directory();
    put("_c_" + some_uuid + "-latch-0000000004", "java-1");
    put("_c_" + other_uuid + "-latch-0000000005", "java-2");
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::leader_election);
    ASSERT_TRUE(seen.leader);
    EXPECT_EQ(seen.leader->id, "java-1");
    EXPECT_THAT(holders(seen), ElementsAre(0));
    EXPECT_FALSE(seen.participants[0].token);
}

TEST_P(Inspect, OfTwoCandidatesWithOneNumberTheOlderLeads) {
    make_directory();
    put("_c_" + third_uuid + "-latch-0000000004", "leader");
    put("_c_" + some_uuid + "-latch-0000000004", "successor");
    const queue_view seen = look();
    EXPECT_EQ(seen.participants.at(0).id, "leader");
    EXPECT_THAT(holders(seen), ElementsAre(0));
}

TEST_P(Inspect, DoubleBarrierOfCuratorsHasEnteredOnceReadyIsThere) {
    make_directory();
    put(some_uuid, "10.0.0.1");
    put("ready", {}, create_mode::persistent);
    put(other_uuid);
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::double_barrier);
    EXPECT_THAT(names(seen), ElementsAre(some_uuid, other_uuid));
    EXPECT_THAT(holders(seen), ElementsAre(0)) << "the other one came later";
    EXPECT_EQ(seen.participants[0].library, participant_library::curator);
}

TEST_P(Inspect, ReadyThatWasLeftBehindIsADoubleBarrier) {
    make_directory();
    put("ready", {}, create_mode::persistent);
    EXPECT_EQ(look().kind, lock_kind::double_barrier);
    EXPECT_THAT(look().participants, IsEmpty());
}

TEST_P(Inspect, DirectoryWithALockNamedReadyIsNoDoubleBarrier) {
    make_directory();
    put("ready", {}, create_mode::persistent);
    put("ready/_c_" + some_uuid + "-lock-0000000001");
    EXPECT_EQ(look().kind, lock_kind::unknown);
    EXPECT_THAT(look().foreign, ElementsAre("ready"));
    world_->remove(path_ + "/ready/_c_" + some_uuid + "-lock-0000000001");
    EXPECT_EQ(look().kind, lock_kind::unknown) << "it has been a lock";
    put(other_uuid, {}, create_mode::persistent);
    EXPECT_EQ(look().kind, lock_kind::unknown);
}

TEST_P(Inspect, DirectoryWithAFileNamedReadyIsNoDoubleBarrier) {
    make_directory();
    put("ready", "yes", create_mode::persistent);
    EXPECT_EQ(look().kind, lock_kind::unknown) << "there never was a participant";
    put(some_uuid, {}, create_mode::persistent);
    EXPECT_EQ(look().kind, lock_kind::unknown) << "Curator's participants are ephemeral";
}

TEST_P(Inspect, DirectoryWithABarrierOrAMemberNamedReadyIsNoDoubleBarrier) {
    make_directory();
    put("ready", std::string(200, 'x'), create_mode::persistent);
    put(some_uuid);
    EXPECT_EQ(look().kind, lock_kind::group);
    world_->remove(path_ + "/ready");
    put("ready");
    EXPECT_EQ(look().kind, lock_kind::group);
}

TEST_P(Inspect, ReadyWithAnAddressThatWasLeftBehindIsADoubleBarrier) {
    make_directory();
    put(some_uuid, "10.0.0.1");
    put("ready", "10.0.0.1", create_mode::persistent);
    EXPECT_EQ(look().kind, lock_kind::double_barrier);
    world_->remove(path_ + "/" + some_uuid);
    EXPECT_EQ(look().kind, lock_kind::double_barrier);
}

TEST_P(Inspect, DirectoryWithALockNamedLeasesIsNoSemaphore) {
    make_directory();
    put("leases", {}, create_mode::persistent);
    put("jobs", {}, create_mode::persistent);
    EXPECT_EQ(look().kind, lock_kind::unknown);
}

// ---- what should not be there ----

TEST_P(Inspect, MissingPathIsNone) {
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::none);
    EXPECT_THAT(seen.participants, IsEmpty());
    EXPECT_FALSE(seen.sequence_left);
}

TEST_P(Inspect, EmptyDirectoryAndForeignDataAreUnknown) {
    make_directory();
    EXPECT_EQ(look().kind, lock_kind::unknown);
    world_->set(path_, "10.0.0.1");  // perhaps Curator's barrier, perhaps anything
    EXPECT_EQ(look().kind, lock_kind::unknown);
    put("config", {}, create_mode::persistent);
    put("ready", {}, create_mode::persistent);
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::unknown);
    EXPECT_THAT(seen.foreign, ElementsAre("config", "ready"));
}

TEST_P(Inspect, MalformedChildrenAreNamedAndHolderStillHolds) {
    make_directory();
    put(curators_lock);
    put("_c_" + other_uuid + "-lock-12");
    put("notes", {}, create_mode::persistent);
    queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::mutex);
    EXPECT_THAT(names(seen), ElementsAre(curators_lock));
    EXPECT_THAT(holders(seen), ElementsAre(0));
    EXPECT_THAT(seen.malformed, ElementsAre("_c_" + other_uuid + "-lock-12"));
    EXPECT_THAT(seen.foreign, ElementsAre("notes"));
    EXPECT_EQ(seen.sequence_left, last_sequence + 1 - 3) << "the servers count every create";
    world_->create(path_ + "/_c_" + third_uuid + "-lock-2147483647");
    seen = look();
    EXPECT_EQ(seen.sequence_left, 0U);
    EXPECT_EQ(seen.malformed.size(), 2U);
}

TEST_P(Inspect, MalformedChildAloneIsOfNoKindAndIsNamed) {
    make_directory();
    put("lock-12", {}, create_mode::persistent);
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::unknown);
    EXPECT_THAT(seen.malformed, ElementsAre("lock-12"));
    EXPECT_THAT(seen.foreign, IsEmpty());
}

TEST_P(Inspect, MixedKindsAreTheFirstThatFitsAndTheOthersAreForeign) {
    make_directory();
    put(curators_lock);
    const std::string reader = "_c_" + other_uuid + "-__READ__0000000004";
    put(reader);
    queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::shared_mutex);
    EXPECT_THAT(names(seen), ElementsAre(reader));
    EXPECT_THAT(seen.foreign, ElementsAre(curators_lock));
    const std::string candidate = "_c_" + third_uuid + "-latch-0000000005";
    put(candidate);
    seen = look();
    EXPECT_EQ(seen.kind, lock_kind::leader_election);
    EXPECT_THAT(names(seen), ElementsAre(candidate));
    EXPECT_THAT(seen.foreign, ElementsAre(curators_lock, reader));
}

TEST_P(Inspect, ParticipantThatIsNotEphemeralIsReportedAsSuch) {
    make_directory();
    put(curators_lock, {}, create_mode::persistent);
    put(gos_lock);
    const queue_view seen = look();
    EXPECT_THAT(holders(seen), ElementsAre(0));
    EXPECT_FALSE(seen.participants[0].ephemeral || seen.participants[0].session_alive);
    EXPECT_EQ(seen.participants[0].session_id, 0);
    EXPECT_TRUE(seen.participants[1].ephemeral && seen.participants[1].session_alive);
}

TEST_P(Inspect, DirectoriesOfASemaphoreAreNoGroups) {
    semaphore s(zk_, path_, 1);
    const hold h = s.acquire();
    const waiter waiting(s, 1U);
    catch_up(zk_);
    for (const std::string directory : {"/queue", "/permits"}) {
        EXPECT_EQ(inspect(zk_, path_ + directory).kind, lock_kind::unknown) << directory;
    }
}

TEST_P(Inspect, HostileDataIsBoundedAndNoRecord) {
    make_directory(std::string(400'000, '['));
    put(curators_lock, R"({"host":7,"pid":"x"})" + std::string(100'000, '\x1b'));
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::mutex);
    EXPECT_EQ(seen.participants.at(0).data.size(), 16'384U);
    EXPECT_FALSE(seen.participants[0].identified);
}

TEST_P(Inspect, ManyParticipantsAreAllThere) {
    make_directory();
    for (int i = 0; i < 200; ++i) {
        const std::string number = std::to_string(1'000 + i);
        put("_c_" + some_uuid + "-lock-000000" + number, number);
    }
    const queue_view seen = look();
    ASSERT_EQ(seen.participants.size(), 200U);
    EXPECT_THAT(holders(seen), ElementsAre(0));
    EXPECT_EQ(seen.participants[199].data, "1199");
    EXPECT_EQ(seen.participants[199].position, 199U);
}

// ---- access ----

TEST_P(Inspect, PathThatMayNotBeReadIsAnError) {
    world_->create(path_.substr(0, path_.rfind('/')));
    put_znode(others_, path_, {}, create_mode::persistent, nobodys());
    std::error_code ec;
    // Its server may be behind.
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(inspect(zk_, path_, ec).kind, lock_kind::none);
        return ec == errc::not_authorized;
    })) << ec.message();
    EXPECT_THROW(static_cast<void>(inspect(zk_, path_)), error);
}

TEST_P(Inspect, ParticipantThatMayNotBeReadIsShownWithoutItsData) {
    make_directory();
    put(curators_lock, "secret", create_mode::ephemeral, nobodys());
    put(gos_lock, "open");
    const queue_view seen = look();
    ASSERT_EQ(seen.participants.size(), 2U);
    const participant& hidden = seen.participants[0];
    EXPECT_FALSE(hidden.readable);
    EXPECT_TRUE(hidden.holding);
    EXPECT_EQ(hidden.data, "");
    EXPECT_EQ(hidden.hidden(), world_->exists_needs_read());
    EXPECT_EQ(hidden.ephemeral, !hidden.hidden());
    EXPECT_EQ(hidden.session_id, hidden.hidden() ? 0 : others_.session_id());
    EXPECT_EQ(hidden.czxid > 0, !hidden.hidden());
    EXPECT_EQ(hidden.token.has_value(), !hidden.hidden());
    if (hidden.hidden()) {
        EXPECT_EQ(hidden.existed_for, 0ms);
        EXPECT_FALSE(hidden.session_alive);
    }
    EXPECT_TRUE(seen.participants[1].readable);
    EXPECT_EQ(seen.participants[1].data, "open");
}

TEST_P(Inspect, PathWithAChildThatIsHiddenIsNotTakenForAGroup) {
    make_directory();
    put("member");
    EXPECT_EQ(look().kind, lock_kind::group);
    put("plain", {}, create_mode::persistent, nobodys());
    EXPECT_EQ(look().kind, world_->exists_needs_read() ? lock_kind::unknown : lock_kind::group);
}

TEST_P(Inspect, WrongUseIsAnError) {
    std::error_code ec;
    EXPECT_EQ(inspect(zk_, "no/path", ec).kind, lock_kind::none);
    EXPECT_EQ(ec, errc::invalid_argument);
    zk_.close();
    EXPECT_EQ(inspect(zk_, path_, ec).kind, lock_kind::none);
    EXPECT_EQ(ec, errc::closed);
}

LATCHKEY_IN_THIS_WORLD(Inspect);

}  // namespace
}  // namespace latchkey::test
