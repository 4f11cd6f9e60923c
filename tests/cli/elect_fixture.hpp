#pragma once

#include <latchkey/leader_observer.hpp>

#include "command_fixture.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace latchkey::test {

/// What tests of `latchkey elect` share. The path is that of an election.
class elect_fixture : public command_fixture {
protected:
    using command_fixture::command_fixture;

    /// In queue order, by their ids.
    words candidates() {
        words ids;
        for (const auto& one : leader_observer::participants(view(), path_)) {
            ids.push_back(one.data);
        }
        return ids;
    }

    [[nodiscard]] bool eventually_candidates(const std::string& expected) {
        return eventually([&] { return candidates() == words_of(expected); });
    }

    /// Another client deletes the leader's znode.
    void break_leadership() { remove_znode(leader_observer::leader(view(), path_).value().path); }

    /// Of lines that commands write, a token each.
    [[nodiscard]] std::vector<long long> numbers_in(const std::string& file) const {
        std::vector<long long> all;
        for (const std::string& line : lines_of(folder_.content(file))) {
            all.push_back(std::atoll(line.c_str()));
        }
        return all;
    }

    [[nodiscard]] static bool are_growing(const std::vector<long long>& numbers) {
        return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
               numbers.end();
    }

    /// Waits until `family` runs anew.
    [[nodiscard]] bool eventually_another_than(pid_t main) const {
        return eventually(
            [&] { return folder_.has_line("main") && folder_.pid_in("main") != main; });
    }
};

}  // namespace latchkey::test
