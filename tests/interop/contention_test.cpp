// Programs in three languages contend for one lock; when each of them held it is compared
// afterwards, on the clock that they share. The sessions are well all the time: Curator 5.4 itself
// keeps a lock whose session has ended (CURATOR-604).
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "held_intervals.hpp"
#include "interop_test.hpp"
#include "number_from.hpp"
#include "rival.hpp"
#include "tcp_proxy.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <unistd.h>

namespace latchkey::test {
namespace {

std::chrono::milliseconds duration() {
    return std::chrono::seconds(
        std::max<std::uint64_t>(1, number_from("LATCHKEY_INTEROP_SECONDS", 2)));
}

/// A number in a file, which loses additions unless those who add take turns.
class counter {
public:
    counter()
        : file_(std::filesystem::temp_directory_path() /
                ("latchkey-interop-" + std::to_string(::getpid()))) {
        std::ofstream(file_) << "0\n";
    }

    ~counter() {
        std::error_code ignored;
        std::filesystem::remove(file_, ignored);
    }

    counter(const counter&) = delete;
    counter& operator=(const counter&) = delete;

    void increment() const {
        const std::size_t before = value();
        std::ofstream(file_) << before + 1 << '\n';
    }

    [[nodiscard]] std::size_t value() const {
        std::size_t number = 0;
        std::ifstream(file_) >> number;
        return number;
    }

    [[nodiscard]] std::string file() const { return file_.string(); }

private:
    const std::filesystem::path file_;
};

/// What others do on their own, as a future too.
template <class Acquire>
std::future<intervals> contend(Acquire acquire, const counter* effects) {
    return std::async(std::launch::async, [acquire, effects, end = now() + duration() / 1ns] {
        std::mt19937 random(std::random_device{}());
        intervals all;
        while (now() < end) {
            const hold h = acquire();
            held_interval i{.begin = now(), .end = 0};
            if (effects != nullptr) {
                effects->increment();
            }
            work_for(std::chrono::microseconds(random() % 2000));
            i.end = now();
            EXPECT_TRUE(h.valid());
            all.push_back(i);
        }
        return all;
    });
}

/// Holders on one side, whose connections are silenced from time to time.
struct silence {
    std::atomic<bool> near = false;  ///< who holds now goes on until the hold is lost
    std::atomic<int> holding = 0;
    std::atomic<int> lost = 0;
};

/// When each hold was one, as far as its holder could believe in it.
template <class Acquire>
std::future<intervals> endure(Acquire acquire, silence& s, const std::atomic<bool>& stop) {
    return std::async(std::launch::async, [acquire, &s, &stop] {
        intervals believed;
        while (!stop) {
            const hold h = acquire();
            held_interval i{.begin = now(), .end = 0};
            if (!h.valid()) {
                continue;
            }
            ++s.holding;
            do {
                const std::int64_t at = now();
                if (!h.valid()) {
                    ++s.lost;
                    break;
                }
                i.end = at;
                work_for(1ms);
            } while (s.near);
            --s.holding;
            believed.push_back(i);
        }
        return believed;
    });
}

class Contention : public InteropTest {
protected:
    Contention() {
        const real_ensemble& servers = real_ensemble::shared();
        for (int server = 1; server <= servers.size(); ++server) {
            ways_.push_back(std::make_unique<tcp_proxy>(servers.address(server)));
        }
    }

    /// A client whose every connection can be silenced.
    [[nodiscard]] client through_proxies(std::chrono::milliseconds timeout) const {
        std::string list;
        for (const auto& way : ways_) {
            list += (list.empty() ? "" : ",") + way->address();
        }
        return client::connect(list, {.session_timeout = timeout});
    }

    std::vector<std::unique_ptr<tcp_proxy>> ways_;
};

TEST_F(Contention, HoldsOfThreeLanguagesNeverOverlapAndLoseNoUpdate) {
    const counter number;
    client zk = connect();
    mutex m(zk, path_);
    mutex other(zk, path_);
    java().open("1", "mutex", path_);
    java().open("2", "mutex", path_);
    python().open("1", "mutex", path_);
    intervals ours;
    intervals javas;
    intervals pythons;
    repeat_until([&] { return ours.size() > 10 && javas.size() > 10 && pythons.size() > 10; },
                 [&] {
                     auto one = contend([&] { return m.acquire(); }, &number);
                     auto another = contend([&] { return other.acquire(); }, &number);
                     auto java_1 = java().contend("1", duration(), number.file());
                     auto java_2 = java().contend("2", duration(), number.file());
                     append(pythons,
                            intervals_of(python().contend("1", duration(), number.file())));
                     append(javas, intervals_of(std::move(java_1)));
                     append(javas, intervals_of(std::move(java_2)));
                     append(ours, one.get());
                     append(ours, another.get());
                 });
    intervals all = ours;
    append(all, javas);
    append(all, pythons);
    EXPECT_EQ(most_at_once(all), 1U);
    EXPECT_EQ(number.value(), all.size()) << "updates were lost";
    EXPECT_TRUE(queue_has(0));
    std::printf("%zu holds: Java %zu, Python %zu\n", all.size(), javas.size(), pythons.size());
}

TEST_F(Contention, HoldsOfKazooAsItIsAndOursNeverOverlap) {
    const counter number;
    client zk = connect();
    mutex m(zk, path_);
    mutex other(zk, path_);
    python().open("1", "patterns", path_);
    python().open("2", "patterns", path_);
    intervals ours;
    intervals pythons;
    repeat_until([&] { return ours.size() > 10 && pythons.size() > 10; },
                 [&] {
                     auto one = contend([&] { return m.acquire(); }, &number);
                     auto another = contend([&] { return other.acquire(); }, &number);
                     auto python_1 = python().contend("1", duration(), number.file());
                     append(pythons,
                            intervals_of(python().contend("2", duration(), number.file())));
                     append(pythons, intervals_of(std::move(python_1)));
                     append(ours, one.get());
                     append(ours, another.get());
                 });
    intervals all = ours;
    append(all, pythons);
    EXPECT_EQ(most_at_once(all), 1U);
    EXPECT_EQ(number.value(), all.size()) << "updates were lost";
    std::printf("%zu holds: Python %zu\n", all.size(), pythons.size());
}

TEST_F(Contention, WritersOfThreeLanguagesAreAloneAndReadersTogether) {
    const counter number;
    client zk = connect();
    shared_mutex m(zk, path_);
    for (peer* p : {&java(), &python()}) {
        p->open("r", "read", path_);
        p->open("w", "write", path_);
    }
    intervals reads;
    intervals writes;
    repeat_until(
        [&] { return writes.size() > 30 && most_at_once(reads) > 1; },
        [&] {
            auto our_reads = contend([&] { return m.acquire(lock_mode::shared); }, nullptr);
            auto our_writes = contend([&] { return m.acquire(lock_mode::exclusive); }, &number);
            auto our_downgrades = contend(
                [&] {
                    hold h = m.acquire(lock_mode::exclusive);
                    static_cast<void>(m.convert(h, lock_mode::shared));
                    return h;
                },
                nullptr);
            auto java_reads = java().contend("r", duration(), "-");
            auto java_writes = java().contend("w", duration(), number.file());
            auto python_reads = python().contend("r", duration(), "-");
            append(writes, intervals_of(python().contend("w", duration(), number.file())));
            append(writes, intervals_of(std::move(java_writes)));
            append(writes, our_writes.get());
            append(reads, intervals_of(std::move(java_reads)));
            append(reads, intervals_of(std::move(python_reads)));
            append(reads, our_reads.get());
            append(reads, our_downgrades.get());
        });
    EXPECT_EQ(most_at_once(writes), 1U);
    EXPECT_EQ(overlaps(reads, writes), 0U);
    EXPECT_EQ(number.value(), writes.size()) << "updates were lost";
    EXPECT_TRUE(queue_has(0));
    std::printf("%zu reads, %zu writes\n", reads.size(), writes.size());
}

TEST_F(Contention, PermitsOfBothNeverExceedTheLimit) {
    constexpr std::uint32_t limit = 3;
    client zk = connect();
    curator_semaphore s(zk, path_, limit);
    for (const std::string name : {"1", "2", "3"}) {
        java().open(name, "semaphore", path_, limit);
    }
    intervals singles;
    intervals pairs;
    intervals java_pairs;
    const auto permits = [&] {  // those who hold two count twice
        intervals all = singles;
        for (const intervals& two : {pairs, pairs, java_pairs, java_pairs}) {
            append(all, two);
        }
        return all;
    };
    repeat_until(
        [&] {
            return singles.size() > 40 && pairs.size() > 10 && java_pairs.size() > 10 &&
                   most_at_once(permits()) > 1;
        },
        [&] {
            auto ours = contend([&] { return s.acquire(); }, nullptr);
            auto ours_too = contend([&] { return s.acquire(); }, nullptr);
            auto our_pairs = contend([&] { return s.acquire(2); }, nullptr);
            auto java_1 = java().contend("1", duration(), "-");
            auto java_2 = java().contend("2", duration(), "-");
            append(java_pairs, intervals_of(java().contend("3", duration(), "-", 2)));
            append(singles, intervals_of(std::move(java_1)));
            append(singles, intervals_of(std::move(java_2)));
            append(singles, ours.get());
            append(singles, ours_too.get());
            append(pairs, our_pairs.get());
        });
    EXPECT_LE(most_at_once(permits()), limit);
    EXPECT_TRUE(eventually([&] { return s.available() == limit; }));
    std::printf(
        "%zu holds of one permit, %zu of two\n", singles.size(), pairs.size() + java_pairs.size());
}

TEST_F(Contention, HoldsThatWeLoseEndBeforeCuratorsBegin) {
    constexpr auto timeout = 1500ms;
    client zk = through_proxies(timeout);
    mutex m(zk, path_ + "/m");
    shared_mutex rw(zk, path_ + "/rw");
    curator_semaphore s(zk, path_ + "/s", 2);
    java().open("m", "mutex", path_ + "/m");
    java().open("r", "read", path_ + "/rw");
    java().open("w", "write", path_ + "/rw");
    java().open("s", "semaphore", path_ + "/s", 2);

    silence quiet;
    std::atomic<bool> stop = false;
    auto our_mutex = endure([&] { return m.acquire(); }, quiet, stop);
    auto our_writes = endure([&] { return rw.acquire(lock_mode::exclusive); }, quiet, stop);
    auto our_permits = endure([&] { return s.acquire(2); }, quiet, stop);
    rival mutexes(java(), "m");
    rival reads(java(), "r");
    rival writes(java(), "w");
    rival permits(java(), "s");
    for (const int lost : {3, 6}) {
        quiet.near = true;
        EXPECT_TRUE(eventually([&] { return quiet.holding == 3; }));
        std::for_each(ways_.begin(), ways_.end(), [](const auto& w) { w->black_hole(); });
        EXPECT_TRUE(eventually([&] { return quiet.lost == lost; }));
        quiet.near = false;
        // The servers end the session, and everybody else goes on.
        for (rival* each : {&mutexes, &reads, &writes, &permits}) {
            EXPECT_TRUE(each->begins_another_after(now()));
        }
        std::for_each(ways_.begin(), ways_.end(), [](const auto& w) { w->pass(); });
    }
    stop = true;

    EXPECT_EQ(overlaps(our_mutex.get(), mutexes.ended()), 0U);
    intervals of_curator = reads.ended();
    append(of_curator, writes.ended());
    EXPECT_EQ(overlaps(our_writes.get(), of_curator), 0U);
    EXPECT_EQ(overlaps(our_permits.get(), permits.ended()), 0U);
}

}  // namespace
}  // namespace latchkey::test
