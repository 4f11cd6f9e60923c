// Programs in three languages contend for one lock; when each of them held it is compared
// afterwards, on the clock that they share. The sessions are well all the time: Curator 5.4 itself
// keeps a lock whose session has ended (CURATOR-604).
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "held_intervals.hpp"
#include "interop_test.hpp"
#include "number_from.hpp"
#include "server_proxies.hpp"
#include "tcp_proxy.hpp"

#include <algorithm>
#include <array>
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

/// Acquires and releases again and again, as a peer does.
template <class Acquire>
std::future<intervals> contend(Acquire acquire, const counter* effects = nullptr) {
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

std::vector<std::future<intervals>> contend(const std::vector<peer_lock>& locks,
                                            const std::string& file = "-",
                                            int permits = 1) {
    std::vector<std::future<intervals>> all;
    for (const peer_lock& lock : locks) {
        all.push_back(lock.contend(duration(), file, permits));
    }
    return all;
}

void collect(intervals& to, std::vector<std::future<intervals>> stories) {
    for (auto& story : stories) {
        append(to, story.get());
    }
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
    /// Two of ours and these contend for the mutex, and no two hold at once.
    void expect_no_overlap_with(const std::vector<std::vector<peer_lock>>& languages) {
        const counter number;
        mutex m(zk_, path_);
        mutex other(zk_, path_);
        std::vector<intervals> holds(languages.size() + 1);  // the last are ours
        repeat_until(
            [&] {
                return std::ranges::all_of(holds, [](const auto& of) { return of.size() > 10; });
            },
            [&] {
                auto one = contend([&] { return m.acquire(); }, &number);
                auto another = contend([&] { return other.acquire(); }, &number);
                std::vector<std::vector<std::future<intervals>>> stories;
                for (const auto& locks : languages) {
                    stories.push_back(contend(locks, number.file()));
                }
                for (std::size_t i = 0; i < stories.size(); ++i) {
                    collect(holds[i], std::move(stories[i]));
                }
                append(holds.back(), one.get());
                append(holds.back(), another.get());
            });
        intervals all;
        for (const intervals& of : holds) {
            append(all, of);
        }
        EXPECT_EQ(most_at_once(all), 1U);
        EXPECT_EQ(number.value(), all.size()) << "updates were lost";
        EXPECT_TRUE(queue_has(0));
        std::printf("%zu holds, %zu of them ours\n", all.size(), holds.back().size());
    }

    client zk_ = connect();
};

TEST_F(Contention, HoldsOfThreeLanguagesNeverOverlapAndLoseNoUpdate) {
    expect_no_overlap_with({{curators("mutex"), curators("mutex")}, {kazoos("mutex")}});
}

TEST_F(Contention, HoldsOfKazooAsItIsAndOursNeverOverlap) {
    expect_no_overlap_with({{kazoos("patterns"), kazoos("patterns")}});
}

TEST_F(Contention, WritersOfThreeLanguagesAreAloneAndReadersTogether) {
    const counter number;
    shared_mutex m(zk_, path_);
    const std::vector<peer_lock> readers{curators("read"), kazoos("read")};
    const std::vector<peer_lock> writers{curators("write"), kazoos("write")};
    intervals reads;
    intervals writes;
    repeat_until([&] { return writes.size() > 30 && most_at_once(reads) > 1; },
                 [&] {
                     auto our_reads = contend([&] { return m.acquire(lock_mode::shared); });
                     auto our_writes =
                         contend([&] { return m.acquire(lock_mode::exclusive); }, &number);
                     auto our_downgrades = contend([&] {
                         hold h = m.acquire(lock_mode::exclusive);
                         static_cast<void>(m.convert(h, lock_mode::shared));
                         return h;
                     });
                     auto their_reads = contend(readers);
                     collect(writes, contend(writers, number.file()));
                     collect(reads, std::move(their_reads));
                     append(writes, our_writes.get());
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
    curator_semaphore s(zk_, path_, limit);
    const std::vector<peer_lock> for_one{curators("semaphore", limit),
                                         curators("semaphore", limit)};
    const std::vector<peer_lock> for_two{curators("semaphore", limit)};
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
            auto ours = contend([&] { return s.acquire(); });
            auto ours_too = contend([&] { return s.acquire(); });
            auto our_pairs = contend([&] { return s.acquire(2); });
            auto their_singles = contend(for_one);
            collect(java_pairs, contend(for_two, "-", 2));
            collect(singles, std::move(their_singles));
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
    const server_proxies<tcp_proxy> ways(real_ensemble::shared());
    client zk = client::connect(ways.addresses(), {.session_timeout = 1500ms});
    mutex m(zk, path_ + "/m");
    shared_mutex rw(zk, path_ + "/rw");
    curator_semaphore s(zk, path_ + "/s", 2);
    const std::vector<std::vector<peer_lock>> theirs{
        {java().open("mutex", path_ + "/m")},
        {java().open("read", path_ + "/rw"), java().open("write", path_ + "/rw")},
        {java().open("semaphore", path_ + "/s", 2)}};

    silence quiet;
    std::atomic<bool> stop = false;
    std::array ours{endure([&] { return m.acquire(); }, quiet, stop),
                    endure([&] { return rw.acquire(lock_mode::exclusive); }, quiet, stop),
                    endure([&] { return s.acquire(2); }, quiet, stop)};
    std::array<intervals, 3> their_holds;
    for (int round = 0; round < 2; ++round) {
        quiet.near = true;
        EXPECT_TRUE(eventually([&] { return quiet.holding == 3; }));
        // They wait behind us until the servers end the session.
        std::vector<std::vector<std::future<intervals>>> stories;
        for (const auto& locks : theirs) {
            stories.push_back(contend(locks));
        }
        std::ranges::for_each(ways, [](const auto& w) { w->black_hole(); });
        // Losses: one that a slow machine causes before the silence is one more.
        EXPECT_TRUE(eventually([&] { return quiet.holding == 0; }));
        quiet.near = false;
        for (std::size_t i = 0; i < theirs.size(); ++i) {
            for (auto& story : stories[i]) {
                const intervals holds = story.get();
                EXPECT_FALSE(holds.empty()) << "of lock " << i;
                append(their_holds.at(i), holds);
            }
        }
        std::ranges::for_each(ways, [](const auto& w) { w->pass(); });
    }
    stop = true;
    EXPECT_GE(quiet.lost, 6);
    for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_EQ(overlaps(ours.at(i).get(), their_holds.at(i)), 0U) << "of lock " << i;
    }
}

}  // namespace
}  // namespace latchkey::test
