#pragma once

#include "loop/monitor.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <boost/thread/mutex.hpp>

namespace latchkey::inline v0 {

/// What recipe objects of one client share, while one of them is used: found by a key. Any thread.
class shared_objects {
public:
    /// The object of that key, if there is one; else the one that `make` returns.
    template <class T>
    [[nodiscard]] std::shared_ptr<T> find_or_make(const std::string& key,
                                                  const std::function<std::shared_ptr<T>()>& make) {
        const monitor_lock lock(guard_);
        if (known_.size() >= sweep_at_) {
            std::erase_if(known_, [](const auto& one) { return one.second.expired(); });
            sweep_at_ = 2 * known_.size() + 16;
        }
        if (auto found = known_[key].lock()) {
            return std::static_pointer_cast<T>(std::move(found));
        }
        auto made = make();
        known_[key] = made;
        return made;
    }

private:
    boost::mutex guard_;
    std::map<std::string, std::weak_ptr<void>> known_ LATCHKEY_GUARDED_BY(guard_);
    std::size_t sweep_at_ LATCHKEY_GUARDED_BY(guard_) = 16;  ///< then those that are gone go
};

}  // namespace latchkey::inline v0
