#pragma once

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::bench {

/// Mutexes of one client, `directory`/0 and so on, which one thread acquires and releases.
class many_locks {
public:
    many_locks(client& c, const std::string& directory, std::size_t size);

    /// So often in total, with so many acquires under way at a time. Returns when all have been
    /// granted and the last delete has been answered.
    void acquire_and_release(std::size_t all, std::size_t depth);
    /// The same with blocking calls, one at a time.
    void acquire_one_by_one(std::size_t all);

private:
    void begin();
    void settle() const;

    client& client_;
    std::vector<std::unique_ptr<latchkey::mutex>> mutexes_;
    std::size_t wanted_ = 0;
    std::atomic<std::size_t> begun_{0};
    std::atomic<std::size_t> granted_{0};
    std::atomic<bool> done_{false};
};

}  // namespace latchkey::bench
