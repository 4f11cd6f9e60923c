#pragma once

#include <latchkey/leader_latch.hpp>

#include "leader/leader_record.hpp"
#include "recipe_test.hpp"

#include <optional>
#include <string>

namespace latchkey::test {

/// Candidates of the election on `path_`.
class ElectionTest : public TwoClientsTest {
protected:
    std::optional<leader_record> record() {
        return read_leader_record(world_->get(path_).value_or(""));
    }

    bool published(const std::string& data) {
        return eventually([&] {
            const auto r = record();
            return r && r->data == data;
        });
    }

    /// Each is behind those before it.
    void start_in_order(leader_latch& first, leader_latch& second) {
        first.start();
        EXPECT_TRUE(has_children(1));
        second.start();
        EXPECT_TRUE(has_children(2));
    }
};

}  // namespace latchkey::test
