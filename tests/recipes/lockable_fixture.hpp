#pragma once

#include "lockable_kinds.hpp"
#include "recipe_test.hpp"

#include <cstddef>
#include <string>
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
class LockableTest : public TwoClientsTest {
protected:
    using lock_type = Lock;
    using rival_type = typename kind<lock_type>::rival;

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

    /// Waits until there is another participant.
    [[nodiscard]] bool grows_from(std::size_t count) {
        return eventually([&] { return znodes().size() > count; });
    }

    lock_type mine_{a_, path_};
    rival_type other_{b_, path_};
};

}  // namespace latchkey::test
