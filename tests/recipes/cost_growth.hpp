#pragma once

#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "queue/participant_record.hpp"
#include "stepped_test.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

/// What it takes to state how a cost grows, and to see whether it does.
namespace latchkey::test::growth {

using testing::counters;

constexpr auto without_limit = std::chrono::nanoseconds::max();
constexpr auto session_timeout = 12s;

// ---- bytes on the wire, for participants of "/lock" or a directory with a name as long ----

constexpr std::size_t name = 55;                 ///< "_c_", a uuid, "-lock-", ten digits
constexpr std::size_t path = 6 + name;           ///< of a participant
constexpr std::size_t read_in = 12 + 4 + 5 + 1;  ///< of a directory
constexpr std::size_t get_in = 12 + 4 + path + 1;
constexpr std::size_t delete_in = 12 + 4 + path + 4;
constexpr std::size_t create_out = 20 + 4 + path + 68;
constexpr std::size_t delete_out = 20;
constexpr std::size_t directory_in =
    12 + 4 + 5 + 4 + 27 + 4;               ///< the create of the lock's own path
constexpr std::size_t directory_out = 20;  ///< it exists
constexpr std::size_t event_out = 28 + 4 + path;

/// The data of a participant, which names this process.
inline std::size_t record() {
    static const std::size_t size = record_writer::shared()->write("exclusive").size();
    return size;
}

inline std::size_t create_in() {
    return 12 + 4 + path - 10 + 4 + record() + 27 + 4;
}

inline std::size_t get_out() {
    return 20 + 4 + record() + 68;
}

/// Of a directory with n children.
constexpr std::size_t list_out(std::size_t n) {
    return 20 + 4 + 68 + n * (4 + name);
}

// ---- the actions ----

class CostGrowth;

/// One line of the table of docs/scale.md.
struct formula {
    const char* what;
    std::vector<std::size_t> sizes;
    void (*action)(CostGrowth&, std::size_t);
    counters (*cost)(std::size_t);
};

struct sized_formula {
    const formula* of;
    std::size_t n;
};

inline void PrintTo(const sized_formula& f, std::ostream* out) {
    *out << f.of->what << ", " << f.n;
}

class CostGrowth : public SteppedTest, public ::testing::WithParamInterface<sized_formula> {
public:
    client& add_client() {
        clients_.push_back(connected({.session_timeout = session_timeout}));
        return clients_.back();
    }

    /// Of five clients in turn, or of one.
    client& client_of(std::size_t i, std::size_t of = 5) {
        while (clients_.size() < of) {
            add_client();
        }
        return clients_[i % of];
    }

    void queue(std::size_t i, client& by, const std::string& at = "/lock") {
        locks_.push_back(std::make_unique<mutex>(by, at));
        waits_.push_back(acquire(*locks_.back()));
        ensemble_.run_for(i < 64 ? 6ms : 1ms);
    }

    /// A holder, and n waiters behind it, of several clients.
    void queue_of(std::size_t n, std::size_t of = 5) {
        for (std::size_t i = 0; i <= n; ++i) {
            queue(i, client_of(i, of));
        }
        settle();
    }

    void hand_over(std::size_t from) {
        waits_[from]->granted.release();
        expect_granted(waits_[from + 1]);
        ensemble_.run_for(20ms);
    }

    /// n clients, each of which holds a lock of its own.
    void holders(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            queue(0, add_client(), "/lock" + std::to_string(i));
        }
        settle();
    }

    // Free locks.

    void acquire_beside(std::size_t locks) {
        for (std::size_t i = 0; i < locks; ++i) {
            queue(0, client_of(i), "/lock" + std::to_string(i));
        }
        mutex m(client_of(0), "/lock");
        held(m).release();
        settle();
        const hold h = held(m);
        ensemble_.run_for(2ms);
    }

    template <class Lock>
    void acquire_again(Lock& m) {
        held(m).release();
        settle();
        const hold h = held(m);
        ensemble_.run_for(2ms);
    }

    void acquire_beside_readers(std::size_t readers) {
        shared_mutex m(client_of(0), "/lock");
        std::vector<std::shared_ptr<attempt>> all;
        for (std::size_t i = 0; i < readers; ++i) {
            all.push_back(std::make_shared<attempt>());
            read(m, all.back());
        }
        settle();
        read(m, all.emplace_back(std::make_shared<attempt>()));
        ensemble_.run_for(8ms);
        EXPECT_TRUE(all.back()->granted);
    }

    void read(shared_mutex& m, const std::shared_ptr<attempt>& a) {
        m.async_acquire(lock_mode::shared, without_limit, {}, [a](std::error_code, hold h) {
            a->granted = std::move(h);
        });
    }

    void take(semaphore& s, const std::shared_ptr<attempt>& a) {
        s.async_acquire(
            1, without_limit, {}, [a](std::error_code, hold h) { a->granted = std::move(h); });
    }

    void take_beside(std::size_t permits) {
        semaphore s(client_of(0), "/lock", static_cast<std::uint32_t>(permits + 1));
        std::vector<std::shared_ptr<attempt>> all;
        for (std::size_t i = 0; i < permits; ++i) {
            all.push_back(std::make_shared<attempt>());
            take(s, all.back());
            ensemble_.run_for(10ms);
        }
        settle();
        take(s, all.emplace_back(std::make_shared<attempt>()));
        ensemble_.run_for(8ms);
        EXPECT_TRUE(all.back()->granted);
    }

    [[nodiscard]] static std::vector<std::string> paths(std::size_t n) {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back("/l" + std::to_string(1000 + i));
        }
        return all;
    }

    void join_in_turn(std::size_t n) {
        queue(0, client_of(0));
        settle();
        for (std::size_t i = 1; i <= n; ++i) {
            queue(0, client_of(i));
        }
    }

    void join_together(std::size_t n) {
        queue(0, add_client());
        client& c = add_client();
        settle();
        for (std::size_t i = 0; i < n; ++i) {
            locks_.push_back(std::make_unique<mutex>(c, "/lock"));
            waits_.push_back(acquire(*locks_.back()));
        }
        ensemble_.run_for(1s);
    }

    /// The same, and they wait.
    void queue_behind(std::size_t n) {
        join_together(n);
        settle();
    }

    void release_before_readers(std::size_t n) {
        std::vector<std::unique_ptr<shared_mutex>> objects;
        for (std::size_t i = 0; i < 5; ++i) {
            objects.push_back(std::make_unique<shared_mutex>(client_of(i), "/lock"));
        }
        shared_mutex writer(add_client(), "/lock");
        const auto first = std::make_shared<attempt>();
        writer.async_acquire(
            lock_mode::exclusive, without_limit, {}, [first](std::error_code, hold h) {
                first->granted = std::move(h);
            });
        ensemble_.run_for(100ms);
        std::vector<std::shared_ptr<attempt>> all;
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back(std::make_shared<attempt>());
            read(*objects[i % 5], all.back());
        }
        ensemble_.run_for(1s);
        settle();
        first->granted.release();
        ensemble_.run_for(100ms);
        for (const auto& a : all) {
            EXPECT_TRUE(a->granted);
        }
    }

    // Meetings.

    void join(group& g, const std::string& member, std::vector<membership>& all) {
        g.async_join(member,
                     without_limit,
                     {.data = "x", .stop = {}},
                     [&all](std::error_code ec, membership m) {
                         EXPECT_FALSE(ec) << ec.message();
                         all.push_back(std::move(m));
                     });
        ensemble_.run_for(10ms);
    }

    void join_watched(std::size_t watchers) {
        std::vector<std::unique_ptr<group>> groups;
        std::vector<subscription> watching;
        for (std::size_t i = 0; i < watchers; ++i) {
            groups.push_back(std::make_unique<group>(add_client(), "/group"));
            watching.push_back(groups.back()->on_change([](const auto&) {}));
        }
        group g(add_client(), "/group");
        std::vector<membership> all;
        for (std::size_t i = 0; i < watchers; ++i) {
            join(g, "member-" + std::to_string(1000 + i), all);
        }
        ensemble_.run_for(5s);
        settle();
        join(g, "another-1000", all);
        ensemble_.run_for(1s);
    }

    void candidates(std::size_t n, std::vector<std::unique_ptr<leader_latch>>& all) {
        for (std::size_t i = 0; i < n; ++i) {
            all.push_back(std::make_unique<leader_latch>(client_of(i, n), "/leader"));
            all.back()->start();
            ensemble_.run_for(20ms);
        }
        settle();
    }

    using SteppedTest::acquire;
    using SteppedTest::ensemble_;
    using SteppedTest::expect_granted;
    using SteppedTest::held;
    using SteppedTest::settle;

    std::vector<client> clients_;
    std::vector<std::unique_ptr<mutex>> locks_;
    std::vector<std::shared_ptr<attempt>> waits_;
};

/// The counts, in words.
inline std::string described(const counters& n) {
    std::string text;
    const auto add = [&](const char* what, std::uint64_t count) {
        text += count == 0 ? "" : std::string(what) + ' ' + std::to_string(count) + ' ';
    };
    add("create", n.creates);
    add("delete", n.removes);
    add("get", n.gets);
    add("list", n.children);
    add("set", n.sets);
    add("multi", n.multis);
    add("sync", n.syncs);
    add("watch", n.watches_set);
    add("event", n.watch_events);
    return text;
}

/// Within a tenth and 300; 0: nothing is stated.
inline void expect_about(std::uint64_t bytes, std::uint64_t stated) {
    if (stated != 0) {
        EXPECT_LE(bytes, stated + stated / 10 + 300);
        EXPECT_GE(bytes + stated / 10 + 300, stated);
    }
}

}  // namespace latchkey::test::growth
