#pragma once

#include "lockable_kinds.hpp"
#include "recipe_test.hpp"

#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace latchkey::test {

/// Names that the list of tests shows: the world, and the kind.
struct name_of_kind {
    template <class Lock>
    static std::string GetName(int /*index*/) {
        return name_of_world(this_world()) + '_' + kind<Lock>::name;
    }
};

using every_lockable = ::testing::Types<mutex,
                                        recursive_mutex,
                                        pair_of_mutexes,
                                        shared_mutex,
                                        reader,
                                        upgrader,
                                        only_permit<semaphore>,
                                        only_permit<curator_semaphore>>;

/// One of a kind, and a rival of another client on the same path.
template <class Lock>
class LockableTest : public ::testing::Test {
protected:
    using lock_type = Lock;
    using rival_type = typename kind<lock_type>::rival;

    client connect() { return world_->connect({.session_timeout = 10s, .close_timeout = 60s}); }

    /// All that is there of anybody.
    [[nodiscard]] std::vector<std::string> znodes() {
        std::vector<std::string> all;
        for (const std::string& directory : kind<lock_type>::directories(path_)) {
            for (const std::string& name : world_->children(directory)) {
                all.push_back(directory + '/' + name);
            }
        }
        return all;
    }

    [[nodiscard]] bool leaves_nothing() {
        return eventually([this] { return znodes().empty(); });
    }

    /// Of those that say more than a Lockable can.
    [[nodiscard]] hold acquire(acquire_options o) {
        if constexpr (std::is_same_v<lock_type, shared_mutex>) {
            return mine_.acquire(lock_mode::exclusive, std::move(o));
        } else {
            return mine_.acquire(std::move(o));
        }
    }

    /// What `call` fails with.
    template <class Call>
    static std::error_code code_of(Call call) {
        try {
            call();
        } catch (const error& e) {
            return e.code();
        }
        return {};
    }

    std::unique_ptr<world> world_ = make_world(this_world());
    std::string path_ = world_->fresh_path() + "/lock";
    client a_ = connect();
    client b_ = connect();
    lock_type mine_{a_, path_};
    rival_type other_{b_, path_};
};

}  // namespace latchkey::test
