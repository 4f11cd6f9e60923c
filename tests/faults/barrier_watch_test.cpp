#include <latchkey/double_barrier.hpp>

#include "barrier_calls.hpp"
#include "every_step.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// Of those who wait for a round one keeps watch on who comes and goes, for the others.
class MeetingWatch : public SteppedTest {
protected:
    static constexpr std::size_t ours = 5;
    static constexpr std::uint32_t wanted = 6;

    MeetingWatch() {
        for (std::size_t i = 0; i < ours; ++i) {
            clients_.push_back(std::make_unique<client>(connected()));
            barriers_.push_back(std::make_unique<double_barrier>(*clients_[i], "/b", wanted));
            entered_.push_back(enter(*barriers_[i], ensemble_));
            ensemble_.run_for(100ms);
            for (const std::string& name : ensemble_.children("/b")) {
                by_name_.try_emplace(name, i);
            }
        }
        EXPECT_EQ(by_name_.size(), ours);
    }

    /// What Curator's last participant does.
    void curator_begins_a_round(ensemble::duration then = 20ms) {
        ensemble_.create("/b/0c9a6a34-7f0e-4a1c-9c39-4f4d9dd8a0f1");
        ensemble_.create("/b/ready");
        ensemble_.run_for(then);
    }

    [[nodiscard]] std::size_t passed() const {
        return static_cast<std::size_t>(std::count_if(
            entered_.begin(), entered_.end(), [](const auto& o) { return o->done && o->passed; }));
    }

    /// Who keeps watch.
    [[nodiscard]] std::size_t keeper() const { return by_name_.begin()->second; }

    std::vector<std::unique_ptr<client>> clients_;
    std::vector<std::unique_ptr<double_barrier>> barriers_;
    std::vector<std::shared_ptr<outcome>> entered_;
    std::map<std::string, std::size_t> by_name_;
};

TEST_F(MeetingWatch, IsTakenOverFromWhoIsLost) {
    const std::size_t lost = keeper();
    ensemble_.expire(clients_[lost]->session_id());
    ensemble_.run_for(500ms);  // it has entered again
    curator_begins_a_round();
    EXPECT_EQ(passed(), ours);
}

/// From the beginning of the round until long after everybody was told.
class MeetingWatchThatIsLost : public MeetingWatch,
                               public ::testing::WithParamInterface<std::chrono::microseconds> {};

TEST_P(MeetingWatchThatIsLost, BeforeItTellsIsTakenOver) {
    const std::size_t lost = keeper();
    curator_begins_a_round(GetParam());
    ensemble_.expire(clients_[lost]->session_id());
    ensemble_.run_for(50ms);
    for (std::size_t i = 0; i < ours; ++i) {
        EXPECT_TRUE(i == lost || entered_[i]->passed) << i;
    }
}

TEST_P(MeetingWatchThatIsLost, WithItsConnectionIsTakenUpAgain) {
    curator_begins_a_round(GetParam());
    ensemble_.cut(clients_[keeper()]->session_id());
    ensemble_.run_until([this] { return passed() == ours; }, 10s);
    EXPECT_EQ(passed(), ours);
}

INSTANTIATE_TEST_SUITE_P(,
                         MeetingWatchThatIsLost,
                         ::testing::Values(0us, 500us, 1500us, 2500us, 3500us, 4500us, 5500us));

TEST_F(MeetingWatch, OfADirectoryThatIsRemovedGoesOnInTheNextOne) {
    for (const std::string& name : ensemble_.children("/b")) {
        ensemble_.remove("/b/" + name);
    }
    ensemble_.remove("/b");
    ASSERT_TRUE(
        ensemble_.run_until([this] { return ensemble_.children("/b").size() == ours; }, 20s));
    client last = connected();
    double_barrier b(last, "/b", wanted);
    const auto in = enter(b, ensemble_);
    ensemble_.run_for(1s);
    EXPECT_TRUE(in->passed);
    EXPECT_EQ(passed(), ours);
}

TEST_F(MeetingWatch, IsTakenOverFromWhoGivesUp) {
    // The destructor of the client ends the wait of its participant.
    clients_[keeper()].reset();
    ensemble_.run_for(50ms);
    curator_begins_a_round();
    EXPECT_EQ(passed(), ours - 1);
}

/// Who waits for a round to end, and hears late of the next one, which counts on it.
class MeetingThatIsHeardOfLate : public SteppedTest {
protected:
    struct round {
        std::vector<std::unique_ptr<double_barrier>> all = {};
        std::shared_ptr<outcome> keeps = {};
        std::shared_ptr<outcome> waits = {};
    };

    [[nodiscard]] bool all_end(const std::vector<std::shared_ptr<outcome>>& all) {
        return ensemble_.run_until(
            [&] { return std::ranges::all_of(all, [](const auto& o) { return o->done; }); }, 1s);
    }

    /// Two are inside, a third one waits, and its name is ahead of most others.
    [[nodiscard]] round begin_with_two() {
        const std::string path = "/b" + std::to_string(++rounds_);
        round r;
        for (const client& c : clients_) {
            r.all.push_back(std::make_unique<double_barrier>(c, path, 2));
        }
        EXPECT_TRUE(all_end({enter(*r.all[0], ensemble_), enter(*r.all[1], ensemble_)}));
        const auto inside = ensemble_.children(path);
        for (bool is_first = false; !is_first;) {
            std::stop_source stop;
            r.keeps = std::make_shared<outcome>();
            r.all[2]->async_enter(stop.get_token(), outcome::into(r.keeps, ensemble_));
            ensemble_.run_for(100ms);
            for (const std::string& name : ensemble_.children(path)) {
                is_first = is_first || (std::ranges::count(inside, name) == 0 && name < "member-2");
            }
            if (!is_first) {
                stop.request_stop();
                EXPECT_TRUE(all_end({r.keeps}));
            }
        }
        return r;
    }

    int rounds_ = 0;
    std::vector<client> clients_{connected(), connected(), connected(), connected()};
};

TEST_F(MeetingThatIsHeardOfLate, IsNotTakenForTheOneBefore) {
    at_every_step(
        {.of = ensemble_, .stretch = 8ms, .at_least = one_way / 4},
        [&] {
            round r = begin_with_two();
            r.waits = enter(*r.all[3], ensemble_);
            return r;
        },
        [&](const round& r) {
            ensemble_.black_hole(clients_[3].session_id());
            EXPECT_TRUE(all_end({leave(*r.all[0], ensemble_), leave(*r.all[1], ensemble_)}));
            ensemble_.run_for(50ms);
            ensemble_.resume(clients_[3].session_id());
        },
        [&](const round& r) {
            ASSERT_TRUE(all_end({r.keeps, r.waits}));
            EXPECT_TRUE(r.keeps->passed && r.waits->passed);
            EXPECT_TRUE(all_end({leave(*r.all[2], ensemble_), leave(*r.all[3], ensemble_)}));
        });
}

/// More of them than one request can speak of.
TEST(MeetingCrowd, BeginsRoundsAllTheSame) {
    ensemble e({.mode = ensemble::mode::stepped});
    e.create("/b");
    for (int i = 0; i < 5000; ++i) {
        e.create("/b/1d6f0a52-6e0e-4a0c-8f0f-" + std::to_string(100'000'000'000 + i));
    }
    client c = e.connect();
    double_barrier b(c, "/b", 1000);
    const auto in = enter(b, e);
    ASSERT_TRUE(e.run_until([&] { return in->done; }, 60s));
    EXPECT_TRUE(in->passed) << in->ec.message();
    EXPECT_TRUE(b.inside());
}

}  // namespace
}  // namespace latchkey::test
