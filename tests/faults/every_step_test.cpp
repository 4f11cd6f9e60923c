// Each fault at each step of each kind of lock: while it is acquired, waited for, handed over and
// released.
#include "every_step.hpp"

#include "any_lock.hpp"
#include "hold/hold_state.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using nanoseconds = std::chrono::nanoseconds;

struct contended_lock {
    std::string name;
    kind_of_lock mine;
    kind_of_lock rival;
    std::vector<std::string> directories;
    std::size_t places = 1;  ///< that a participant takes
};

/// Its rival is of the same kind.
contended_lock alike(const kind_of_lock& k, std::vector<std::string> directories) {
    return {k.name, k, k, std::move(directories)};
}

kind_of_lock shared_as(const char* name, lock_mode mode) {
    return lock_at<shared_mutex>(name, "/lock", {}, mode);
}

template <class Semaphore>
kind_of_lock permit(const char* name) {
    return permits_at<Semaphore>(name, "/lock", {}, 1, 1);
}

const kind_of_lock plain_mutex = lock_at<mutex>("mutex", "/lock", {});
const kind_of_lock plain_writer = shared_as("writer", lock_mode::exclusive);
/// Keeps its place for a while.
const kind_of_lock kept_mutex =
    lock_at<mutex>("kept_mutex", "/lock", {.local_passes = 2, .retain_for = 2s});

const auto every_kind = ::testing::Values(
    alike(plain_mutex, {"/lock"}),
    contended_lock{kept_mutex.name, kept_mutex, plain_mutex, {"/lock"}},
    contended_lock{"multi_mutex",
                   multi_mutex_at({"/x", "/y", "/z"}),
                   lock_at<mutex>("one_of_three", "/y", {}),
                   {"/x", "/y", "/z"},
                   3},
    alike(plain_writer, {"/lock"}),
    alike(shared_as("upgrader", lock_mode::upgrade), {"/lock"}),
    contended_lock{"reader", shared_as("reader", lock_mode::shared), plain_writer, {"/lock"}},
    alike(permit<semaphore>("semaphore"), {"/lock/queue", "/lock/permits"}),
    alike(permit<curator_semaphore>("curator_semaphore"), {"/lock/locks", "/lock/leases"}));

/// What is going on while the fault comes.
enum class scene {
    alone,         ///< it acquires, and there is no other participant
    behind,        ///< it acquires, and another one holds
    next,          ///< it waits, and the holder releases
    at_the_limit,  ///< it waits, the holder releases, and its time is up
    leaving,       ///< it releases, and another one waits
};

const std::map<scene, std::string> scenes{{scene::alone, "alone"},
                                          {scene::behind, "behind"},
                                          {scene::next, "next"},
                                          {scene::at_the_limit, "at_the_limit"},
                                          {scene::leaving, "leaving"}};

struct players {
    testing::ensemble& on;
    client& mine;
    client& others;
    std::int64_t session;  ///< of `mine`, at the beginning
    std::stop_source stop{};
    std::shared_ptr<attempt> asked{};
    hold rival{};
};

/// It befalls the one that acquires or releases, or the servers.
struct mishap {
    std::string name;
    void (*happens)(players&);
    loss_reason end = loss_reason::none;  ///< of what is granted
    bool gives_up = false;
};

const auto every_mishap = ::testing::Values(
    mishap{"nothing", [](players&) {}},
    mishap{"connection_cut", [](players& p) { p.on.cut(p.session); }},
    mishap{"both_cut",
           [](players& p) {
               p.on.cut(p.session);
               p.on.cut(p.others.session_id());
           }},
    mishap{"moved_to_a_server_behind",
           [](players& p) {
               const int behind = (p.on.leader() + 1) % 3;
               p.on.lag(behind, 300ms);
               p.on.move(p.session, behind);
               p.on.run_for(1s);
               p.on.lag(behind, 0s);
           }},
    mishap{"stalled",
           [](players& p) {
               p.on.pause(p.session);
               p.on.run_for(1s);
               p.on.resume(p.session);
           }},
    mishap{"leader_killed",
           [](players& p) {
               const int killed = p.on.leader();
               p.on.stop_server(killed);
               p.on.run_for(1s);
               p.on.start_server(killed);
           }},
    mishap{"reaped", [](players& p) { p.on.reap_containers(); }},
    mishap{
        "session_ended", [](players& p) { p.on.expire(p.session); }, loss_reason::session_expired},
    mishap{"session_replaced",
           [](players& p) {
               p.on.replace(p.session);
               p.on.cut(p.session);
               p.on.run_for(100ms);
               p.on.expire(p.session);
           },
           loss_reason::session_replaced},
    mishap{"given_up", [](players& p) { p.stop.request_stop(); }, loss_reason::none, true},
    mishap{"given_up_and_cut",
           [](players& p) {
               p.stop.request_stop();
               p.on.cut(p.session);
           },
           loss_reason::none,
           true});

using play = std::tuple<contended_lock, scene, mishap>;

void PrintTo(const play& p, std::ostream* out) {
    *out << std::get<0>(p).name << ' ' << scenes.at(std::get<1>(p)) << ' ' << std::get<2>(p).name;
}

class AtEveryStep : public SteppedTest, public ::testing::WithParamInterface<play> {
protected:
    static const contended_lock& kind() { return std::get<0>(GetParam()); }

    static scene where() { return std::get<1>(GetParam()); }

    static const mishap& fault() { return std::get<2>(GetParam()); }

    /// In all directories.
    [[nodiscard]] std::size_t places() const {
        const auto& all = kind().directories;
        return std::accumulate(all.begin(), all.end(), std::size_t{}, [&](auto sum, auto& d) {
            return sum + in_queue(d);
        });
    }

    players begin() {
        players p{ensemble_, a_, b_, a_.session_id()};
        if (where() == scene::leaving) {
            hold mine = held(mine_);
            p.asked = acquire(theirs_);
            ensemble_.run_for(1s);
            mine.release();
            return p;
        }
        if (where() != scene::alone) {
            p.rival = held(theirs_);
        }
        ensemble_.run_for(100ms);
        const auto limit = where() == scene::at_the_limit ? 1s : nanoseconds::max();
        p.asked = acquire(mine_, limit, {.stop = p.stop.get_token(), .reserved = {}});
        if (where() == scene::at_the_limit) {
            ensemble_.run_for(limit - 12ms);
        } else if (where() == scene::next) {
            ensemble_.run_for(1s);
            EXPECT_FALSE(p.asked->done);
            p.rival.release();
        }
        return p;
    }

    static void happens(players& p) {
        if (where() == scene::at_the_limit) {
            p.rival.release();
        }
        fault().happens(p);
    }

    /// What the servers and the fault have left open is decided: one whole hold, or none, and no
    /// more places than holds.
    void end(players& p) {
        if (where() == scene::behind) {
            ensemble_.run_for(2s);
            EXPECT_EQ(p.asked->done, fault().gives_up);
            EXPECT_TRUE(p.rival.valid());
            EXPECT_EQ(places(), p.rival.paths().size() + (fault().gives_up ? 0 : kind().places));
            p.rival.release();
        }
        ASSERT_TRUE(ensemble_.run_until([&] { return p.asked->done; }, 60s));
        EXPECT_FALSE(p.asked->ec) << p.asked->ec.message();
        ensemble_.run_for(5s);
        hold& h = p.asked->granted;
        (is_empty(h) ? empty_ : granted_) += 1;
        if (h.valid()) {
            expect_whole(h, where() == scene::leaving ? b_ : a_);
        } else if (!is_empty(h)) {
            const bool by_watch =
                where() != scene::alone && h.why_lost() == loss_reason::znode_deleted;
            EXPECT_TRUE(h.why_lost() == fault().end || by_watch) << to_string(h.why_lost());
            EXPECT_EQ(places(), 0U);
        }
        h.release();
        EXPECT_TRUE(ensemble_.run_until([&] { return places() == 0; }, 10s));
    }

    /// One znode a path, all of one creation and of the client's session, and no others.
    void expect_whole(const hold& h, const client& of) const {
        std::set<std::int64_t> creations;
        for (const std::string& path : h.paths()) {
            const auto znode = ensemble_.get(path);
            ASSERT_TRUE(znode) << path;
            EXPECT_EQ(znode->ephemeral_owner, of.session_id());
            creations.insert(znode->czxid);
        }
        EXPECT_EQ(creations.size(), 1U);
        EXPECT_EQ(places(), h.paths().size());
    }

    client a_ = connected();
    client b_ = connected();
    const any_lock mine_ = kind().mine.make(a_);
    const any_lock theirs_ = kind().rival.make(b_);
    int granted_ = 0;
    int empty_ = 0;
};

TEST_P(AtEveryStep, AFaultLeavesOneWholeHoldOrNoneAndNothingBehind) {
    held(mine_).release();
    held(theirs_).release();
    ensemble_.run_for(100ms);
    // Later the own znode is watched, and its deletion is reported first.
    const bool brief = where() == scene::alone && fault().end != loss_reason::none;
    const int rounds = at_every_step(
        {.of = ensemble_, .stretch = brief ? 8ms : 16ms, .at_least = one_way / 4},
        [&] { return begin(); },
        [](players& p) { happens(p); },
        [&](players& p) { end(p); });
    EXPECT_GT(rounds, brief ? 32 : 64);
    const bool undisturbed = fault().name == "nothing";
    const bool may_be_late = where() == scene::at_the_limit;
    const bool may_give_up = fault().gives_up && where() != scene::leaving;
    if (may_be_late || may_give_up) {
        EXPECT_GT(empty_, 0);
    } else {
        EXPECT_EQ(empty_, 0);
    }
    if (where() != scene::behind && (may_be_late ? undisturbed : may_give_up)) {
        EXPECT_GT(granted_, 0);
    }
}

std::string name_of(const ::testing::TestParamInfo<play>& p) {
    std::string name = ::testing::PrintToString(p.param);
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(,
                         AtEveryStep,
                         ::testing::Combine(every_kind,
                                            ::testing::Values(scene::alone,
                                                              scene::behind,
                                                              scene::next,
                                                              scene::at_the_limit,
                                                              scene::leaving),
                                            every_mishap),
                         name_of);

}  // namespace
}  // namespace latchkey::test
