#pragma once

#include "queue/own_znode.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// The znodes of a participant: one in each of its queues, and the records of its lock_delay. Not
/// copied: a copy would keep watches after the participant is gone.
struct own_znodes {
    own_znodes() = default;
    own_znodes(own_znodes&&) = default;
    own_znodes& operator=(own_znodes&&) = default;

    std::vector<std::shared_ptr<own_znode>> in_queues;
    std::vector<std::string> records = {};  ///< that may be there

    /// Of those in the queues.
    [[nodiscard]] std::vector<std::string> paths() const {
        std::vector<std::string> all;
        for (const auto& z : in_queues) {
            all.push_back(z->path());
        }
        return all;
    }

    [[nodiscard]] std::vector<std::string> paths_with_records() const {
        std::vector<std::string> all = paths();
        all.insert(all.end(), records.begin(), records.end());
        return all;
    }

    /// Null if none has this path.
    [[nodiscard]] own_znode* find(std::string_view path) const {
        const auto found = std::ranges::find(in_queues, path, &own_znode::path);
        return found == in_queues.end() ? nullptr : found->get();
    }
};

}  // namespace latchkey::inline v0
