#pragma once

#include <latchkey/acl.hpp>

#include "directories/directory_creation.hpp"
#include "session/session.hpp"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Creates the directories of locks, and looks at the access to those that exist. On the loop only.
///
/// A directory gets the list that its recipe asks for. The levels above it may be shared with other
/// identities, so those that are missing get the list of the level above, as if an operator had
/// created them. ZooKeeper has no such create: where `access` is not open, the lists are read
/// beside the create of the directory. If levels are missing, they are created when the answers
/// have come, ahead of what the caller repeats.
class directory_maker {
public:
    struct effects {
        /// Sends a request whose paths begin at the servers' root.
        std::function<void(request, session::completion)> send;
        /// Everyone has the rights `which`, "CREATE, DELETE", that `access` keeps for others. Once
        /// for each path.
        std::function<void(const std::string& path, const std::string& which)> exposed;
    };

    /// Which list the last level gets.
    enum class last_level : std::uint8_t {
        access,  ///< it belongs to the recipe
        parent,  ///< it is a level like the others
    };

    explicit directory_maker(effects e) : effects_(std::move(e)) {}

    /// `path` begins at the servers' root. If the answer to what was sent behind this is NONODE,
    /// the caller repeats both.
    [[nodiscard]] directory_creation make(const std::string& path,
                                          const acl& access,
                                          last_level last);

    /// Asks who has access to the directory of a recipe that it has not created.
    void look_at(const std::string& path, const acl& access);

private:
    struct walk;

    void create(const std::string& path, const acl& access, session::completion done);
    void create_missing(const walk& w);
    void note_parent(walk& w, const reply& list);
    void note_access(const std::string& path, const acl& wanted, const acl& found);

    const effects effects_;
    std::set<std::string> exposed_;
};

}  // namespace latchkey::inline v0
