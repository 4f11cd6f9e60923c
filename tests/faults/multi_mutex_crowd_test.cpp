#include <latchkey/ensemble.hpp>
#include <latchkey/multi_mutex.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

// Many that overlap, and everything that can go wrong.

/// Of one seed: who holds what, checked whenever somebody is granted.
class crowd {
public:
    crowd(std::uint64_t seed, bool sessions_are_ended)
        : ensemble_(stepped(seed)), random_(seed), sessions_are_ended_(sessions_are_ended) {
        for (int i = 0; i < 4; ++i) {
            clients_.push_back(ensemble_.connect({.session_timeout = 12s}));
        }
        for (std::size_t i = 0; i < 8; ++i) {
            std::vector<std::string> some;
            for (int n = 0; n < 3; ++n) {
                some.push_back(path(random_() % paths));
            }
            members_.push_back({std::make_unique<multi_mutex>(clients_[i % 4], some), {}, false});
        }
    }

    void run(std::size_t grants) {
        ensemble_.inject({.cut_before = 0.02,
                          .cut_after = 0.02,
                          .interval = 500ms,
                          .cut = 0.1,
                          .suspend = 0.05,
                          .pause = 0.03,
                          .expire = sessions_are_ended_ ? 0.05 : 0,
                          .stop = 0.02,
                          .isolate = 0.02,
                          .lag = 0.05,
                          .lasting = 8s});
        const auto end = ensemble_.now() + 60min;
        while (granted_ < grants && ensemble_.now() < end) {
            for (member& m : members_) {
                if (!m.busy && random_() % 3 == 0) {
                    m.granted.release();
                    acquire(m);
                }
            }
            ensemble_.run_for(std::chrono::milliseconds(random_() % 1000));
        }
        EXPECT_GE(granted_, grants) << "somebody waits for ever";
        ensemble_.inject({});
    }

    /// Everybody who waits comes in without further faults, and nothing is left behind.
    void end() {
        const auto idle = [this] {
            for (member& m : members_) {
                if (!m.busy) {
                    m.granted.release();
                }
            }
            return std::none_of(
                members_.begin(), members_.end(), [](const member& m) { return m.busy; });
        };
        EXPECT_TRUE(ensemble_.run_until(idle, 10min));
        const auto swept = [this] {
            for (std::size_t i = 0; i < paths; ++i) {
                if (!ensemble_.children(path(i)).empty()) {
                    return false;
                }
            }
            return true;
        };
        EXPECT_TRUE(ensemble_.run_until(swept, 10min));
    }

private:
    static constexpr std::size_t paths = 5;

    struct member {
        std::unique_ptr<multi_mutex> lock;
        hold granted;
        bool busy = false;
    };

    static ensemble::options stepped(std::uint64_t seed) {
        ensemble::options o;
        o.mode = ensemble::mode::stepped;
        o.seed = seed;
        o.one_way = 1ms;
        o.jitter = 5ms;
        o.between_servers = 1ms;
        return o;
    }

    static std::string path(std::size_t i) { return "/path-" + std::to_string(i); }

    void acquire(member& m) {
        m.busy = true;
        const auto limit = random_() % 4 == 0 ? std::chrono::nanoseconds(random_() % 3'000'000'000)
                                              : std::chrono::nanoseconds::max();
        m.lock->async_acquire(limit, {}, [this, &m](std::error_code ec, hold h) {
            m.busy = false;
            EXPECT_TRUE(!ec || ec == errc::unreachable) << ec.message();
            if (holds(h)) {
                on_granted(m, h);
            }
            m.granted = std::move(h);
        });
    }

    void on_granted(const member& m, const hold& h) {
        ++granted_;
        for (const std::string& path : m.lock->paths()) {
            for (const member& other : members_) {
                const auto& theirs = other.lock->paths();
                const bool shared = std::find(theirs.begin(), theirs.end(), path) != theirs.end();
                EXPECT_FALSE(&other != &m && shared && holds(other.granted))
                    << path << " has two holders";
            }
            fencing_token& newest = tokens_[path];
            EXPECT_GT(h.fencing_token(), newest) << path;
            newest = h.fencing_token();
        }
    }

    /// Of a session that was ended from outside its client hears a moment later.
    [[nodiscard]] bool holds(const hold& h) const {
        return h.valid() && !(sessions_are_ended_ && !ensemble_.exists(h.path()));
    }

    ensemble ensemble_;
    std::mt19937_64 random_;
    std::vector<client> clients_;
    std::vector<member> members_;
    std::map<std::string, fencing_token> tokens_;
    std::size_t granted_ = 0;
    const bool sessions_are_ended_;
};

TEST(MultiCrowd, NeverHoldsAPathTwiceAndNeverWaitsForEver) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        crowd c(seed, seed % 2 == 0);
        c.run(60);
        c.end();
        if (::testing::Test::HasFailure()) {
            break;
        }
    }
}

}  // namespace
}  // namespace latchkey::test
