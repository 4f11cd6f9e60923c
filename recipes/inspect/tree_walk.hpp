#pragma once

#include <latchkey/lock_tree.hpp>

#include "client/client_core.hpp"
#include "client/read_window.hpp"
#include "inspect/path_look.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

/// One walk. Blocks; any thread. Throws latchkey::error.
///
/// `visits_` is what is under way and what is still to be visited, in the order of the report. Each
/// round asks what the first of them need to know, and takes what was answered meanwhile.
class tree_walk {
public:
    using visitor = std::function<void(const lock_tree_entry&)>;

    /// All must outlive this object.
    tree_walk(client_core& core, const visitor& report, const lock_tree_options& options)
        : reads_(core.shared_from_this()), report_(report), options_(options) {}

    [[nodiscard]] lock_tree_summary run(const std::string& path);

private:
    /// A path that is visited.
    struct visit {
        std::string path;
        std::size_t depth = 0;
        visit* parent = nullptr;  ///< set if it needs this znode to decide what it is itself
        std::unique_ptr<path_look> look = {};
        std::vector<std::optional<reply>> answers = {};  ///< to the questions that are open

        std::map<std::string, reply> children = {};  ///< the znodes that this needs, by path
        std::size_t unread = 0;                      ///< how many of them are yet to be read

        lock_tree_entry entry = {};
        bool begun = false;      ///< the first answers are there
        bool is_asking = false;  ///< questions are under way
        bool asks_access = false;
        bool internal = false;  ///< not to be reported
        bool done = false;
    };

    using visits = std::list<visit>;

    /// Whose questions a group of reads is.
    struct asked {
        visits::iterator of;
        std::vector<std::size_t> numbers;
    };

    void ask_first();
    void begin(visit& v);
    static void take_known_answers(visit& v);
    [[nodiscard]] bool ask(visits::iterator v);
    void take_answers();

    void advance(visits::iterator v);
    static void refuse(visit& v, std::error_code why);
    static void tell_parent(visit& v, const reply& znode);
    void expand(visits::iterator v);
    void look_is_done(visit& v);

    void report_finished();

    read_window reads_;
    const visitor& report_;
    const lock_tree_options& options_;

    visits visits_;
    std::map<std::size_t, asked> asked_;      ///< by the number of the group
    std::vector<visits::iterator> answered_;  ///< whose questions are answered
    std::int64_t newest_ = 0;
    bool cut_ = false;  ///< no further path is visited
    lock_tree_summary summary_;
};

}  // namespace latchkey::inline v0
