#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "inspect_fixture.hpp"
#include "queue/znode_names.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What inspect() shows of other libraries' znodes, and of znodes that should not be there.
class Inspect : public InspectTest {};

// ---- what kind of lock there is, and who takes part ----

/// What is seen of children. In the words of this table, <1>, <2> and <3> are uuids, and <p> is
/// one without hyphens; "=" separates a name and its data, "!" ends a persistent child, and
/// "~" one that is deleted in the end.
struct sight {
    const char* name;
    std::string children;
    std::string seen;
};

const sight sights[] = {
    {"MutexOfThreeLibrariesIsOneQueue",
     "_c_<1>-lock-0000000001=10.0.0.1 _c_<p>-lock-0000000002 <p>__lock__0000000003=worker",
     "mutex: _c_<1>-lock-0000000001 curator holds, _c_<p>-lock-0000000002 go, "
     "<p>__lock__0000000003 kazoo"},
    {"ReadWriteLockOfCuratorsHasReadersThatHold",
     "_c_<1>-__READ__0000000001 _c_<2>-__READ__0000000002 _c_<3>-__WRIT__0000000003 "
     "<p>-__READ__0000000004",
     "shared_mutex: _c_<1>-__READ__0000000001 curator holds, _c_<2>-__READ__0000000002 curator "
     "holds, "
     "_c_<3>-__WRIT__0000000003 curator, <p>-__READ__0000000004 kazoo"},
    {"SemaphoreOfCuratorsHasALeaseForEachPermit",
     "locks! leases! leases/_c_<1>-lease-0000000007=10.0.0.1 leases/anything! "
     "locks/_c_<2>-lock-0000000009 locks/anything",
     "curator_semaphore: _c_<1>-lease-0000000007 curator holds, anything unknown holds, "
     "_c_<2>-lock-0000000009 curator; foreign: locks/anything"},
    {"OfTwoCandidatesWithOneNumberTheOlderLeads",
     "_c_<3>-latch-0000000004=leader _c_<1>-latch-0000000004=successor",
     "leader_election: _c_<3>-latch-0000000004 unknown holds, _c_<1>-latch-0000000004 unknown"},
    {"DoubleBarrierOfCuratorsHasEnteredOnceReadyIsThere",
     "<1>=10.0.0.1 ready! <2>",
     "double_barrier: <1> curator holds, <2> curator"},
    {"ReadyThatWasLeftBehindIsADoubleBarrier", "ready!", "double_barrier"},
    {"ReadyWithAnAddressThatWasLeftBehindIsADoubleBarrier",
     "<1>=10.0.0.1~ ready=10.0.0.1!",
     "double_barrier"},
    {"DirectoryThatHasBeenALockNamedReadyIsNoDoubleBarrier",
     "ready! ready/_c_<1>-lock-0000000001~",
     "unknown; foreign: ready"},
    {"NorIsOneWithAParticipantThatStays",
     "ready! ready/_c_<1>-lock-0000000001~ <2>!",
     "unknown; foreign: <2>, ready"},
    {"ReadyWithAnAddressIsADoubleBarrier",
     "<1>=10.0.0.1 ready=10.0.0.1!",
     "double_barrier: <1> curator holds"},
    {"DirectoryWithALockNamedReadyIsNoDoubleBarrier",
     "ready! ready/_c_<1>-lock-0000000001",
     "unknown; foreign: ready"},
    {"DirectoryWithAFileNamedReadyIsNoDoubleBarrier", "ready=yes!", "unknown; foreign: ready"},
    {"ParticipantOfADoubleBarrierIsEphemeral", "ready=yes! <1>!", "unknown; foreign: <1>, ready"},
    {"DirectoryWithABarrierNamedReadyIsNoDoubleBarrier",
     "ready=" + std::string(200, 'x') + "! <1>",
     "group: <1> unknown holds, ready unknown holds"},
    {"DirectoryWithAMemberNamedReadyIsNoDoubleBarrier",
     "ready <1>",
     "group: <1> unknown holds, ready unknown holds"},
    {"DirectoryWithALockNamedLeasesIsNoSemaphore",
     "leases! jobs!",
     "unknown; foreign: jobs, leases"},
    {"EmptyDirectoryIsUnknown", "", "unknown"},
    {"ForeignChildrenAreUnknown", "config! ready!", "unknown; foreign: config, ready"},
    {"MalformedChildrenAreNamedAndHolderStillHolds",
     "_c_<1>-lock-0000000001 _c_<2>-lock-12 notes!",
     "mutex: _c_<1>-lock-0000000001 curator holds; foreign: notes; malformed: _c_<2>-lock-12"},
    {"MalformedChildAloneIsOfNoKindAndIsNamed", "lock-12!", "unknown; malformed: lock-12"},
    {"OfMutexAndSharedMutexTheLatterIsShown",
     "_c_<1>-lock-0000000001 _c_<2>-__READ__0000000004",
     "shared_mutex: _c_<2>-__READ__0000000004 curator holds; foreign: _c_<1>-lock-0000000001"},
    {"OfSeveralKindsAnElectionIsShown",
     "_c_<1>-lock-0000000001 _c_<2>-__READ__0000000004 _c_<3>-latch-0000000005",
     "leader_election: _c_<3>-latch-0000000005 unknown holds; "
     "foreign: _c_<1>-lock-0000000001, _c_<2>-__READ__0000000004"},
};

/// The table's words with uuids.
std::string spelled_out(std::string words) {
    for (const auto& [short_form, uuid] : {std::pair("<1>", some_uuid),
                                           std::pair("<2>", other_uuid),
                                           std::pair("<3>", third_uuid),
                                           std::pair("<p>", plain_uuid)}) {
        for (auto at = words.find(short_form); at != words.npos; at = words.find(short_form)) {
            words.replace(at, 3, uuid);
        }
    }
    return words;
}

std::string listed(const std::string& before, const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all) {
        text += (text.empty() ? before : ", ") + one;
    }
    return text;
}

TEST_P(Inspect, TellsKindAndParticipantsByTheChildren) {
    const std::string directory = path_;
    for (const sight& s : sights) {
        SCOPED_TRACE(s.name);
        path_ = directory + '-' + s.name;
        make_directory();
        std::vector<std::string> deleted;
        std::istringstream words(s.children);
        for (std::string child; words >> child;) {
            const char end = child.back();
            child.resize(child.size() - (end == '!' || end == '~' ? 1 : 0));
            const auto name_ends = std::min(child.find('='), child.size());
            const std::string name = spelled_out(child.substr(0, name_ends));
            put(name,
                name_ends < child.size() ? child.substr(name_ends + 1) : "",
                end == '!' ? create_mode::persistent : create_mode::ephemeral);
            if (end == '~') {
                deleted.push_back(path_ + '/' + name);
            }
        }
        for (const std::string& path : deleted) {
            world_->remove(path);
        }
        const queue_view seen = look();
        EXPECT_EQ(to_string(seen.kind) + listed(": ", described(seen)) +
                      listed("; foreign: ", seen.foreign) + listed("; malformed: ", seen.malformed),
                  spelled_out(s.seen));
    }
}

const std::string curators_lock = "_c_" + some_uuid + "-lock-0000000001";
const std::string gos_lock = "_c_" + plain_uuid + "-lock-0000000002";
const std::string kazoos_lock = plain_uuid + "__lock__0000000003";

TEST_P(Inspect, ShowsWhatOtherLibrariesWroteAndTheTokensOfTheirHolders) {
    make_directory();
    put(curators_lock, "10.0.0.1");
    put(kazoos_lock, "worker");
    queue_view seen = look();
    EXPECT_EQ(seen.participants.at(1).data, "worker");
    EXPECT_FALSE(seen.participants[0].identified);
    EXPECT_EQ(seen.participants[0].token.value().zxid, seen.participants[0].czxid);
    put("_c_" + third_uuid + "-latch-0000000005", "java-1");
    seen = look();
    EXPECT_EQ(seen.leader.value().id, "java-1");
    EXPECT_EQ(seen.participants.at(0).id, "java-1");
    EXPECT_FALSE(seen.participants[0].token) << "Curator's leaders publish none";
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

TEST_P(Inspect, MissingPathIsNoneAndForeignDataUnknown) {
    const queue_view seen = look();
    EXPECT_EQ(seen.kind, lock_kind::none);
    EXPECT_THAT(seen.participants, IsEmpty());
    EXPECT_FALSE(seen.sequence_left);
    make_directory("10.0.0.1");  // perhaps Curator's barrier, perhaps anything
    EXPECT_EQ(look().kind, lock_kind::unknown);
}

TEST_P(Inspect, SequenceLeftCountsEveryCreateAndIsExhaustedByALargeNumber) {
    make_directory();
    put(curators_lock);
    put("_c_" + other_uuid + "-lock-12");
    put("notes");
    EXPECT_EQ(look().sequence_left, last_sequence + 1 - 3);
    put("_c_" + third_uuid + "-lock-2147483647");
    EXPECT_EQ(look().sequence_left, 0U);
    path_ += "-2";
    make_directory();
    put("locks", {}, create_mode::persistent);
    put("leases", {}, create_mode::persistent);
    put("locks/_c_" + other_uuid + "-lock-0000000009");
    put("leases/_c_" + some_uuid + "-lease-0000000007");
    const queue_view seen = look();
    EXPECT_EQ(seen.sequence_left, last_sequence - 9);
    EXPECT_EQ(seen.taken, 1U);
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
    const auto refusal_of = [&](const std::string& path) {
        return code_of([&](auto& ec) { EXPECT_EQ(inspect(zk_, path, ec).kind, lock_kind::none); });
    };
    EXPECT_EQ(refusal_of("no/path"), errc::invalid_argument);
    zk_.close();
    EXPECT_EQ(refusal_of(path_), errc::closed);
}

LATCHKEY_IN_THIS_WORLD(Inspect);

}  // namespace
}  // namespace latchkey::test
