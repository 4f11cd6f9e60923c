#pragma once

#include "adapter_stage.hpp"
#include "session/request.hpp"
#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {

/// Counts what it has allocated: also what only weak references keep.
template <class T>
struct counting_allocator {
    using value_type = T;

    explicit counting_allocator(std::shared_ptr<long> count) : live(std::move(count)) {}

    template <class U>
    counting_allocator(const counting_allocator<U>& other)
        : live(other.live) {}  // NOLINT: implicit

    [[nodiscard]] T* allocate(std::size_t n) {
        ++*live;
        return std::allocator<T>().allocate(n);
    }

    void deallocate(T* p, std::size_t n) {
        --*live;
        std::allocator<T>().deallocate(p, n);
    }

    template <class U>
    bool operator==(const counting_allocator<U>& other) const noexcept {
        return live == other.live;
    }

    std::shared_ptr<long> live;
};

/// The watches of one program: each tells once, of the next change, and on its connection only.
class user_watches {
public:
    struct watched {
        std::string path;
        bool children = false;
        bool over = false;  ///< ended with its connection
        bool set = false;
        bool due = false;  ///< the servers know of a change, and have told it
        int told = 0;
        std::int64_t mzxid = 0;
        std::vector<std::string> names;
        std::shared_ptr<session::watcher> watcher;
    };

    explicit user_watches(adapter_stage& stage) : stage_(stage) {}

    [[nodiscard]] std::shared_ptr<watched> make(const request& r);

    /// Its request was answered with `ok`.
    static void set(watched& w, const reply& r);

    /// The connection is gone, or the session.
    void end_all();

    /// Nobody waits any more.
    void forget_all() { all_.clear(); }

    /// After the run, and check() when what the servers have told has come.
    void note_changes();
    void check() const;

    /// How many watchers take memory, owned or not.
    [[nodiscard]] long kept() const noexcept { return *kept_; }

private:
    adapter_stage& stage_;
    std::shared_ptr<long> kept_ = std::make_shared<long>(0);
    std::vector<std::shared_ptr<watched>> all_;
};

}  // namespace latchkey::test
