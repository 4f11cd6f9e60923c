#pragma once

#include <latchkey/curator_semaphore.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Everything that can be locked, with one way to make it: of a client and a path.
namespace latchkey::test {

/// Two paths as one.
class pair_of_mutexes : public multi_mutex {
public:
    pair_of_mutexes(client& c, const std::string& path)
        : multi_mutex(c, {path, path + "-beside"}) {}
};

/// The other faces of a shared_mutex, which itself is the exclusive one.
class reader {
public:
    reader(client& c, std::string path) : m_(c, std::move(path)) {}

    void lock() { m_.lock_shared(); }

    [[nodiscard]] bool try_lock() { return m_.try_lock_shared(); }

    [[nodiscard]] bool try_lock_for(const duration_like auto& limit) {
        return m_.try_lock_shared_for(limit);
    }

    [[nodiscard]] bool try_lock_until(const time_point_like auto& deadline) {
        return m_.try_lock_shared_until(deadline);
    }

    void unlock() noexcept { m_.unlock_shared(); }

    [[nodiscard]] hold& held() { return m_.held_shared(); }

    [[nodiscard]] hold acquire(acquire_options o) {
        return m_.acquire(lock_mode::shared, std::move(o));
    }

private:
    shared_mutex m_;
};

class upgrader {
public:
    upgrader(client& c, std::string path) : m_(c, std::move(path)) {}

    void lock() { m_.lock_upgrade(); }

    [[nodiscard]] bool try_lock() { return m_.try_lock_upgrade(); }

    [[nodiscard]] bool try_lock_for(const duration_like auto& limit) {
        return m_.try_lock_upgrade_for(limit);
    }

    [[nodiscard]] bool try_lock_until(const time_point_like auto& deadline) {
        return m_.try_lock_upgrade_until(deadline);
    }

    void unlock() noexcept { m_.unlock_upgrade(); }

    [[nodiscard]] hold& held() { return m_.held(); }

    [[nodiscard]] hold acquire(acquire_options o) {
        return m_.acquire(lock_mode::upgrade, std::move(o));
    }

private:
    shared_mutex m_;
};

/// Semaphores have no lock(): what they grant is a hold. The only permit there is makes a lock.
template <class Semaphore>
class only_permit {
public:
    only_permit(client& c, std::string path) : s_(c, std::move(path), 1) {}

    void lock() { held_ = s_.acquire(); }

    [[nodiscard]] bool try_lock() { return keep(s_.try_acquire()); }

    [[nodiscard]] bool try_lock_for(const duration_like auto& limit) {
        return keep(s_.try_acquire_for(1, limit));
    }

    [[nodiscard]] bool try_lock_until(const time_point_like auto& deadline) {
        return keep(s_.try_acquire_until(1, deadline));
    }

    /// Empty before it is released: the next one may come at once.
    void unlock() noexcept { const hold released = std::move(held_); }

    [[nodiscard]] hold& held() { return held_; }

    [[nodiscard]] hold acquire(acquire_options o) { return s_.acquire(1, std::move(o)); }

private:
    bool keep(hold granted) {
        if (!granted) {
            return false;  // what is held stays so
        }
        held_ = std::move(granted);
        return true;
    }

    Semaphore s_;
    hold held_;
};

/// What becomes of a lock() by the thread that has it.
enum class relock { error, counts, another, waits };

/// How a kind differs from a mutex.
template <class Lock>
struct kind {
    using rival = Lock;  ///< what excludes it, and is excluded by it
    static constexpr const char* name = "mutex";
    static constexpr bool alone = true;
    static constexpr relock again = relock::error;
    static constexpr bool tells_when_not_held = true;

    /// Where its znodes are.
    static std::vector<std::string> directories(const std::string& path) { return {path}; }
};

template <>
struct kind<recursive_mutex> : kind<mutex> {
    static constexpr const char* name = "recursive_mutex";
    using rival = mutex;
    static constexpr relock again = relock::counts;
};

template <>
struct kind<pair_of_mutexes> : kind<mutex> {
    static constexpr const char* name = "multi_mutex";

    static std::vector<std::string> directories(const std::string& path) {
        return {path, path + "-beside"};
    }
};

template <>
struct kind<reader> : kind<mutex> {
    static constexpr const char* name = "reader";
    using rival = shared_mutex;
    static constexpr bool alone = false;
    static constexpr relock again = relock::another;
};

template <>
struct kind<upgrader> : kind<mutex> {
    static constexpr const char* name = "upgrader";
    using rival = shared_mutex;
};

template <>
struct kind<shared_mutex> : kind<mutex> {
    using rival = shared_mutex;
    static constexpr const char* name = "shared_mutex";
};

template <class Semaphore>
struct kind<only_permit<Semaphore>> : kind<mutex> {
    static constexpr const char* name =
        std::is_same_v<Semaphore, semaphore> ? "semaphore" : "curator_semaphore";
    using rival = only_permit<Semaphore>;
    static constexpr relock again = relock::waits;
    static constexpr bool tells_when_not_held = false;

    static std::vector<std::string> directories(const std::string& path) {
        return {path + "/queue", path + "/permits", path + "/locks", path + "/leases"};
    }
};

}  // namespace latchkey::test
