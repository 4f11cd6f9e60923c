#pragma once

#include <latchkey/group.hpp>

#include <string>
#include <vector>

namespace latchkey::cli {

/// What has happened to one member between two looks at a group.
struct member_change {
    const char* event;  ///< "joined", "changed" or "left"
    group_member who;

    bool operator==(const member_change& other) const {
        return std::string(event) == other.event && who == other.who;
    }
};

/// Both lists are sorted by name, and so is the result. A member that has left and joined again, in
/// another session, is reported as both.
[[nodiscard]] std::vector<member_change> changes_between(const std::vector<group_member>& before,
                                                         const std::vector<group_member>& now);

}  // namespace latchkey::cli
