#include <latchkey/lock_tree.hpp>

#include "barrier/double_barrier_round.hpp"
#include "client/client_core.hpp"
#include "client/public_stat.hpp"
#include "client/read_window.hpp"
#include "inspect/kind_rules.hpp"
#include "inspect/path_look.hpp"
#include "leader/transfer/mailbox.hpp"
#include "loop/task.hpp"
#include "queue/participant_record.hpp"
#include "session/failure.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

/// No tree of locks has a path so far below the first one.
constexpr std::size_t deepest = 64;

/// How many questions are asked ahead, with those whose answers are still to be used.
constexpr std::size_t most_open = 2 * read_window::enough;

/// Whether the path is a directory of mailboxes beside an election.
bool is_for_mailboxes(const std::string& path, const std::vector<std::string>& names) {
    return !names.empty() && path.ends_with(peers_of({})) &&
           std::all_of(names.begin(), names.end(), [](const std::string& name) {
               return read_mailbox_name(name).has_value();
           });
}

/// The names below which there may be locks.
std::vector<std::string> to_be_visited(const path_look& look) {
    std::vector<std::string> names = look.znode.names;
    const queue_seen queue = queue_of_kind(look.view.kind, names);
    std::erase_if(names, [&](const std::string& name) {
        return look.view.kind == lock_kind::double_barrier ||
               (queue.is_of_semaphore()
                    ? name == queue.directory || name == queue.permits
                    : place_of(name, queue.markers).what != queue_place::standing::foreign);
    });
    return names;
}

/// How much of a znode's data the directory above it may need: that of a member of a group, or of
/// the list of a round.
std::size_t needed_above(std::string_view name, const server_stat& stat) noexcept {
    return name == double_barrier_round::ready ? double_barrier_round::longest
           : stat.ephemeral_owner != 0         ? longest_participant_data
                                               : longest_record;
}

/// A path that is visited. It is what its look reads with: visits below may have read what the look
/// needs.
struct path_visit final : look_source {
    path_visit(read_window& w, std::size_t& count, std::string where, std::size_t level)
        : look_source(w), znodes(count), path(std::move(where)), depth(level) {
        entry.view.path = path;
        entry.view.kind = lock_kind::unknown;
    }

    [[nodiscard]] task<std::vector<reply>> read(std::vector<request> questions,
                                                std::size_t most_data) override;

    /// What a visit below was answered.
    [[nodiscard]] const reply* known(const request& question) const {
        const auto child = children.find(question.path);
        // A znode that the client may not read shows its stat nevertheless.
        return child == children.end() || (question.what == request::kind::exists &&
                                           child->second.code == result_code::no_auth)
                   ? nullptr
                   : &child->second;
    }

    /// For its task: until it may ask, and knows its children if it needs them.
    [[nodiscard]] auto turn() {
        return until_called_back([this](resumption r) { resume = std::move(r); });
    }

    std::size_t& znodes;  ///< how many were read, by all
    const std::string path;
    const std::size_t depth;
    path_visit* parent = nullptr;  ///< set if it needs this znode to decide what it is itself

    std::map<std::string, reply> children;  ///< the znodes that this needs, by path
    std::size_t unread = 0;                 ///< how many of them are yet to be read

    lock_tree_entry entry;
    bool begun = false;
    bool done = false;
    bool is_reported = false;
    std::optional<resumption> resume;  ///< set while its task waits for its turn
    running_task running;
};

task<std::vector<reply>> path_visit::read(std::vector<request> questions, std::size_t most_data) {
    std::vector<reply> answers(questions.size());
    std::vector<std::size_t> unknown;
    std::vector<request> to_ask;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        if (const reply* const r = known(questions[i])) {
            answers[i] = *r;
            answers[i].data = r->data.substr(0, most_data);
        } else {
            unknown.push_back(i);
            to_ask.push_back(questions[i]);
        }
    }
    if (!unknown.empty()) {
        auto its_turn = turn();
        co_await its_turn;
    }
    auto asked = look_source::read(std::move(to_ask), most_data);
    std::vector<reply> answered = co_await asked;
    for (std::size_t i = 0; i < unknown.size(); ++i) {
        const bool is_get = questions[unknown[i]].what == request::kind::get;
        znodes += is_get && answered[i].code != result_code::no_node ? 1 : 0;
        answers[unknown[i]] = std::move(answered[i]);
    }
    co_return answers;
}

/// One walk. Its tasks run on the thread that calls run(), which blocks and throws latchkey::error.
///
/// `visits_` is what is under way and what is still to be visited, in the order of the report. Each
/// round lets the first of them ask what they need to know, and takes what was answered meanwhile.
class tree_walk {
public:
    using visitor = std::function<void(const lock_tree_entry&)>;

    /// All must outlive this object.
    tree_walk(const std::shared_ptr<client_core>& core,
              const visitor& report,
              const lock_tree_options& options)
        : window_(core), report_(report), options_(options) {}

    [[nodiscard]] lock_tree_summary run(const std::string& path) {
        visits_.emplace_back(window_, summary_.znodes, path, 0);
        while (!visits_.empty()) {
            ask_first();
            if (window_.open() > 0) {
                window_.take();
            }
            report_finished();
        }
        return summary_;
    }

private:
    using visits = std::list<path_visit>;

    void ask_first() {
        for (auto v = visits_.begin(); v != visits_.end() && window_.open() < most_open; ++v) {
            if (v->done || v->unread > 0) {
                continue;
            }
            if (!std::exchange(v->begun, true)) {
                v->running.start(walk(v), [v](bool is_reported) {
                    v->is_reported = is_reported;
                    v->done = true;
                });
            }
            if (const auto resume = std::exchange(v->resume, std::nullopt)) {
                (*resume)();
            }
        }
    }

    /// One path. Ends with whether it is reported.
    task<bool> walk(visits::iterator v) {
        if (is_over()) {
            if (v->parent != nullptr) {
                v->parent->done = true;  // what it is will never be known
            }
            co_return false;
        }
        path_look look;
        look.view.path = v->path;
        auto first_half = read_path(*v, look);
        failure why = co_await first_half;
        tell_parent(*v, look.znode);
        if (!why) {
            if (is_for_mailboxes(v->path, look.znode.names)) {
                co_return false;
            }
            add_children(v, look);
            if (v->unread > 0) {
                auto children_are_read = v->turn();
                co_await children_are_read;
            }
            auto second_half = read_participants(*v, look, options_.waiters);
            why = co_await second_half;
        }
        if (why) {
            v->entry.ec = why.code;
            co_return true;
        }
        const bool is_reported = enter(*v, look);
        if (is_reported && options_.access) {
            std::vector<request> questions{request::access_of(v->path)};
            auto asked = v->read(std::move(questions), 0);
            std::vector<reply> answers = co_await asked;
            if (answers[0].ok()) {
                v->entry.access = std::move(answers[0].access);
            }
        }
        co_return is_reported;
    }

    [[nodiscard]] bool is_over() {
        if (!cut_) {
            using enum lock_tree_summary::ending;
            const bool is_stopped = options_.stop.stop_requested();
            cut_ = is_stopped || summary_.znodes >= options_.max_znodes;
            summary_.end = is_stopped ? stopped : cut_ ? too_many : summary_.end;
        }
        return cut_;
    }

    static void tell_parent(path_visit& v, const reply& znode) {
        if (v.parent == nullptr) {
            return;
        }
        reply& kept = v.parent->children[v.path];
        kept.code = znode.code;
        kept.stat = znode.stat;
        kept.data = znode.data.substr(0, needed_above(name_of(v.path), znode.stat));
        --v.parent->unread;
    }

    /// Adds the children of a path to those to be visited: behind it, or before it if it has to
    /// know them.
    void add_children(visits::iterator v, const path_look& look) {
        auto names = to_be_visited(look);
        if (v->depth >= options_.max_depth) {
            if (!names.empty() && summary_.end == lock_tree_summary::ending::complete) {
                summary_.end = lock_tree_summary::ending::too_deep;
            }
            // A tree that deep has no end, for all that is known: a server makes it up.
            cut_ = cut_ || (!names.empty() && v->depth >= deepest);
            return;
        }
        // What waits to be visited takes memory, and is not visited beyond max_znodes.
        const std::size_t room =
            options_.max_znodes - std::min(options_.max_znodes, visits_.size());
        if (names.size() > room) {
            names.resize(room);
            summary_.end = lock_tree_summary::ending::too_many;
        }
        const auto before = look.asks_for_children ? v : std::next(v);
        for (const std::string& name : names) {
            const std::string path = join_path(v->path, name);
            if (path == "/zookeeper") {
                continue;
            }
            path_visit& child =
                *visits_.emplace(before, window_, summary_.znodes, path, v->depth + 1);
            if (!path_problem(path).empty()) {
                child.entry.ec = errc::invalid_argument;
                child.done = child.is_reported = true;
            } else if (look.asks_for_children) {
                child.parent = &*v;
                ++v->unread;
            }
        }
    }

    /// Returns whether the path is reported.
    [[nodiscard]] bool enter(path_visit& v, path_look& look) const {
        const server_stat& stat = look.znode.stat;
        const bool had_children = !look.znode.names.empty() || stat.cversion != 0;
        const bool is_number = look.view.kind == lock_kind::semaphore && !had_children;
        v.children.clear();
        v.entry.waiting = look.waiting;
        v.entry.stat = public_stat(stat);
        if (look.view.kind == lock_kind::none || stat.ephemeral_owner != 0) {
            return false;
        }
        if (!is_number) {
            v.entry.view = std::move(look.view);
        }
        return v.entry.view.kind != lock_kind::unknown || options_.others;
    }

    void report_finished() {
        while (!visits_.empty() && visits_.front().done) {
            const path_visit& v = visits_.front();
            if (v.is_reported) {
                summary_.unreadable += v.entry.ec ? 1 : 0;
                summary_.locks += v.entry.view.kind != lock_kind::unknown ? 1 : 0;
                report_(v.entry);
            }
            visits_.pop_front();
        }
    }

    read_window window_;
    const visitor& report_;
    const lock_tree_options& options_;
    visits visits_;
    bool cut_ = false;  ///< no further path is visited
    lock_tree_summary summary_;
};

constexpr std::array endings{"complete", "too_deep", "too_many", "stopped"};

}  // namespace

const char* to_string(lock_tree_summary::ending e) noexcept {
    return endings.at(static_cast<std::size_t>(e));
}

lock_tree_summary walk_locks(const client& c,
                             const std::string& path,
                             const std::function<void(const lock_tree_entry&)>& visit,
                             const lock_tree_options& options,
                             std::error_code& ec) {
    return report(ec, [&]() -> lock_tree_summary {
        const auto core = client_core::of(c);
        if (path != "/") {
            check_path(path);
        }
        return tree_walk(core, visit, options).run(path);
    });
}

}  // namespace latchkey::inline v0
