// Programs in three languages contend for one lock; when each of them held it is compared
// afterwards, on the clock that they share. The sessions are well all the time: Curator 5.4 itself
// keeps a lock whose session has ended (CURATOR-604).
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "interop_test.hpp"
#include "tcp_proxy.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
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
    const char* asked = std::getenv("LATCHKEY_INTEROP_SECONDS");
    return std::chrono::seconds(asked == nullptr ? 2 : std::max(1, std::atoi(asked)));
}

std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
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

using intervals = std::vector<held_interval>;

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
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
            i.end = now();
            EXPECT_TRUE(h.valid());
            all.push_back(i);
        }
        return all;
    });
}

/// How many hold at the same time, at most.
std::size_t most_at_once(const intervals& all) {
    std::vector<std::pair<std::int64_t, int>> steps;
    for (const held_interval& i : all) {
        steps.emplace_back(i.begin, 1);
        steps.emplace_back(i.end, -1);
    }
    std::sort(steps.begin(), steps.end());
    long inside = 0;
    long most = 0;
    for (const auto& [at, step] : steps) {
        inside += step;
        most = std::max(most, inside);
    }
    return static_cast<std::size_t>(most);
}

/// How many of them hold while one of the others does.
std::size_t overlaps(const intervals& some, const intervals& others) {
    return static_cast<std::size_t>(std::count_if(some.begin(), some.end(), [&](const auto& a) {
        return std::any_of(others.begin(), others.end(), [&a](const auto& b) {
            return a.begin < b.end && b.begin < a.end;
        });
    }));
}

void append(intervals& all, const intervals& more) {
    all.insert(all.end(), more.begin(), more.end());
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
                std::this_thread::sleep_for(1ms);
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
    auto ours = contend([&] { return m.acquire(); }, &number);
    auto ours_too = contend([&] { return other.acquire(); }, &number);
    auto java_1 = java().contend("1", duration(), number.file());
    auto java_2 = java().contend("2", duration(), number.file());
    auto python_1 = python().contend("1", duration(), number.file());

    intervals all = intervals_of(std::move(python_1));
    const std::size_t pythons = all.size();
    append(all, intervals_of(std::move(java_1)));
    append(all, intervals_of(std::move(java_2)));
    const std::size_t javas = all.size() - pythons;
    append(all, ours.get());
    append(all, ours_too.get());
    EXPECT_EQ(most_at_once(all), 1U);
    EXPECT_EQ(number.value(), all.size()) << "updates were lost";
    EXPECT_GT(pythons, 10U);
    EXPECT_GT(javas, 10U);
    EXPECT_GT(all.size() - pythons - javas, 10U);
    EXPECT_TRUE(queue_has(0));
    std::printf("%zu holds: Java %zu, Python %zu\n", all.size(), javas, pythons);
}

TEST_F(Contention, HoldsOfKazooAsItIsAndOursNeverOverlap) {
    const counter number;
    client zk = connect();
    mutex m(zk, path_);
    mutex other(zk, path_);
    python().open("1", "patterns", path_);
    python().open("2", "patterns", path_);
    auto ours = contend([&] { return m.acquire(); }, &number);
    auto ours_too = contend([&] { return other.acquire(); }, &number);
    auto python_1 = python().contend("1", duration(), number.file());
    auto python_2 = python().contend("2", duration(), number.file());

    intervals all = intervals_of(std::move(python_1));
    append(all, intervals_of(std::move(python_2)));
    const std::size_t pythons = all.size();
    append(all, ours.get());
    append(all, ours_too.get());
    EXPECT_EQ(most_at_once(all), 1U);
    EXPECT_EQ(number.value(), all.size()) << "updates were lost";
    EXPECT_GT(pythons, 10U);
    EXPECT_GT(all.size() - pythons, 10U);
    std::printf("%zu holds: Python %zu\n", all.size(), pythons);
}

TEST_F(Contention, WritersOfThreeLanguagesAreAloneAndReadersTogether) {
    const counter number;
    client zk = connect();
    shared_mutex m(zk, path_);
    for (peer* p : {&java(), &python()}) {
        p->open("r", "read", path_);
        p->open("w", "write", path_);
    }
    auto our_reads = contend([&] { return m.acquire(lock_mode::shared); }, nullptr);
    auto our_writes = contend([&] { return m.acquire(lock_mode::exclusive); }, &number);
    auto our_downgrades = contend(
        [&] {
            hold h = m.acquire(lock_mode::exclusive);
            m.convert(h, lock_mode::shared);
            return h;
        },
        nullptr);
    auto java_reads = java().contend("r", duration(), "-");
    auto java_writes = java().contend("w", duration(), number.file());
    auto python_reads = python().contend("r", duration(), "-");
    auto python_writes = python().contend("w", duration(), number.file());

    intervals reads = intervals_of(std::move(java_reads));
    append(reads, intervals_of(std::move(python_reads)));
    append(reads, our_reads.get());
    append(reads, our_downgrades.get());
    intervals writes = intervals_of(std::move(java_writes));
    append(writes, intervals_of(std::move(python_writes)));
    append(writes, our_writes.get());
    EXPECT_EQ(most_at_once(writes), 1U);
    EXPECT_EQ(overlaps(reads, writes), 0U);
    EXPECT_GT(most_at_once(reads), 1U);
    EXPECT_EQ(number.value(), writes.size()) << "updates were lost";
    EXPECT_GT(writes.size(), 30U);
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
    auto ours = contend([&] { return s.acquire(); }, nullptr);
    auto ours_too = contend([&] { return s.acquire(); }, nullptr);
    auto our_pairs = contend([&] { return s.acquire(2); }, nullptr);
    auto java_1 = java().contend("1", duration(), "-");
    auto java_2 = java().contend("2", duration(), "-");
    auto java_pairs = java().contend("3", duration(), "-", 2);

    intervals all = intervals_of(std::move(java_1));
    append(all, intervals_of(std::move(java_2)));
    append(all, ours.get());
    append(all, ours_too.get());
    const std::size_t single = all.size();
    for (const intervals& pairs : {intervals_of(std::move(java_pairs)), our_pairs.get()}) {
        EXPECT_GT(pairs.size(), 10U);
        append(all, pairs);
        append(all, pairs);  // two permits each
    }
    EXPECT_LE(most_at_once(all), limit);
    EXPECT_GT(most_at_once(all), 1U);
    EXPECT_GT(single, 40U);
    EXPECT_TRUE(eventually([&] { return s.available() == limit; }));
    std::printf("%zu holds of one permit, %zu of two\n", single, (all.size() - single) / 2);
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
    auto mutexes = java().contend("m", timeout * 5, "-");
    auto reads = java().contend("r", timeout * 5, "-");
    auto writes = java().contend("w", timeout * 5, "-");
    auto permits = java().contend("s", timeout * 5, "-");
    for (const int lost : {3, 6}) {
        quiet.near = true;
        EXPECT_TRUE(eventually([&] { return quiet.holding == 3; }));
        std::for_each(ways_.begin(), ways_.end(), [](const auto& w) { w->black_hole(); });
        EXPECT_TRUE(eventually([&] { return quiet.lost == lost; }));
        quiet.near = false;
        std::this_thread::sleep_for(timeout);  // in which the servers end the session
        std::for_each(ways_.begin(), ways_.end(), [](const auto& w) { w->pass(); });
    }
    stop = true;

    const auto expect_apart = [](const intervals& ours, const intervals& theirs) {
        EXPECT_EQ(overlaps(ours, theirs), 0U);
        EXPECT_GT(ours.size(), 2U);
        EXPECT_GT(theirs.size(), 10U);
    };
    expect_apart(our_mutex.get(), intervals_of(std::move(mutexes)));
    intervals of_curator = intervals_of(std::move(reads));
    append(of_curator, intervals_of(std::move(writes)));
    expect_apart(our_writes.get(), of_curator);
    expect_apart(our_permits.get(), intervals_of(std::move(permits)));
}

}  // namespace
}  // namespace latchkey::test
