#pragma once

#include <latchkey/inspect.hpp>

#include "client/failure.hpp"
#include "inspect/kind_rules.hpp"
#include "loop/task.hpp"
#include "session/request.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// One look at a path, without input and output: it says what to ask the servers, and makes a
/// queue_view of the answers. inspect() asks for one path, walk_locks() for many at a time.
///
/// Until done(): ask all questions(), in this order on one connection, and give the answers to
/// answer().
class path_look {
public:
    /// Without `waiters`, participants of a queue that cannot hold are not read and not shown.
    explicit path_look(std::string path, bool waiters = true);
    path_look(const path_look&) = delete;
    path_look& operator=(const path_look&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// The first two are the list of the children and the data of the path.
    [[nodiscard]] const std::vector<request>& questions() const noexcept { return questions_; }

    /// How many bytes of the data in each answer are used.
    [[nodiscard]] std::size_t most_data() const noexcept { return most_data_; }

    /// One answer for each question. Throws latchkey::error if the servers have refused one.
    void answer(std::vector<reply> answers);

    [[nodiscard]] bool done() const noexcept { return questions_.empty(); }

    /// Whether the questions ask for the stat of each child, because neither the names nor the data
    /// show the kind of the path. All later questions are about children, too.
    [[nodiscard]] bool asks_for_children() const noexcept { return by_children_; }

    /// When it is done.
    [[nodiscard]] queue_view take_view() { return std::move(view_); }

    /// When it is done: how many participants were left out, because they wait.
    [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }

    /// Whether all holders left while this looked, or a waiter of a semaphore, which may hold now.
    [[nodiscard]] bool missed_the_holders() const noexcept { return missed_; }

    // Once the first answers are there:

    [[nodiscard]] lock_kind kind() const noexcept { return view_.kind; }

    /// The children of the path, in no order.
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

    /// The path's own znode.
    [[nodiscard]] const reply& znode() const noexcept { return znode_; }

    /// The newest time that the servers have shown, in milliseconds. Others may know a newer one.
    [[nodiscard]] std::int64_t newest() const noexcept { return newest_; }

    void know_time(std::int64_t milliseconds) noexcept {
        newest_ = std::max(newest_, milliseconds);
    }

private:
    [[nodiscard]] oneshot<std::vector<reply>> ask(std::vector<request> questions,
                                                  std::size_t most_data);

    // Each ends with why a server has refused it, or without a failure.
    task<failure> look();
    task<failure> look_by_kind();
    task<failure> look_at_queue();
    task<failure> look_at_semaphore();
    task<failure> look_at_double_barrier();
    task<failure> look_at_group();
    task<failure> look_at_barrier();
    task<failure> look_at_nothing_known();
    task<lock_kind> look_at_children();

    /// Reads participants into the view.
    task<failure> read(std::vector<std::string> paths);

    /// Splits the children of a queue's directory; returns the participants, by number.
    [[nodiscard]] std::vector<std::string> sort_out(const std::vector<std::string>& names);
    [[nodiscard]] std::vector<std::string> to_be_read();
    [[nodiscard]] std::vector<std::string> permits_in(const std::vector<std::string>& names);

    void decide_holders();
    void decide_leader();
    void decide_semaphore();
    void decide_round(const reply& ready);
    void finish();

    const std::string path_;
    const bool waiters_;
    queue_view view_;
    std::vector<request> questions_;
    std::size_t most_data_ = 0;
    std::function<void(std::vector<reply>)> answered_;
    failure why_;
    bool by_children_ = false;

    reply znode_;  ///< of the path
    std::vector<std::string> names_;
    queue_seen queue_;
    std::vector<std::string> ordered_;  ///< the participants in the queue, by number
    std::size_t left_out_ = 0;
    std::int64_t newest_ = 0;
    bool left_ = false;  ///< a participant has left while this looked
    bool missed_ = false;
    running_task looking_;
};

}  // namespace latchkey::inline v0
