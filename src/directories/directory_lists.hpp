#pragma once

#include "loop/task.hpp"
#include "session/session.hpp"

#include <any>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// A list of a directory, shared by all participants that asked for it.
struct listing {
    result_code code = result_code::ok;
    std::vector<std::string> names;  ///< in no order
    /// What the first reader made of the names, for the others.
    mutable std::any view = {};
};

/// Asks for the children of directories, with one list of a directory in flight at a time.
/// Participants that ask meanwhile share the next one.
///
/// So an answer is never older than its question: it contains what the participant sent before it
/// on the same connection. Thousands of participants that join a queue together, or that look for
/// lost creates after a reconnect, cost two or three lists. The price is that a list may come one
/// round trip later. On the loop only.
class directory_lists {
public:
    using sender = std::function<void(request, session::completion)>;
    using answer = std::shared_ptr<const listing>;

    /// At most this many directories are listed at a time, so that long lists do not fill the
    /// memory of a server.
    static constexpr std::size_t most_in_flight = 64;

    struct question {
        std::string directory;
        std::function<void(const answer&)> answered;  ///< once
        /// The list was sent: answers to what is sent now come after it.
        std::function<void()> sent = nullptr;
    };

    /// `delayed` is called with true for each list that waits because of most_in_flight, and with
    /// false when it does not wait any more: whoever asks should ask for less meanwhile.
    explicit directory_lists(
        sender send, std::function<void(bool)> delayed = [](bool) {})
        : send_(std::move(send)), report_delay_(std::move(delayed)) {}

    void ask(question q);

    /// For a task. `sent` is as in a question; it is not called once the answer is not awaited any
    /// more.
    [[nodiscard]] oneshot<answer> list(std::string path, std::function<void()> sent = nullptr);

    /// Lists several, and answers in their order; `sent` is for the last list that is sent.
    [[nodiscard]] oneshot<std::vector<answer>> list_all(const std::vector<std::string>& paths,
                                                        std::function<void()> sent = nullptr);

    /// The connection is gone. Everything that waits is handed to the session, which answers it in
    /// the order of what was sent before.
    void suspended();

private:
    using batch = std::vector<question>;

    struct directory {
        std::shared_ptr<batch> under_way;
        batch waiting;
    };

    void ask_behind(question q, std::function<void()> sent, std::weak_ptr<const void> awaited);
    void send(const std::string& path, directory& d);
    void send(const std::string& path, const std::shared_ptr<batch>& askers);
    void answered(const std::string& path, const std::shared_ptr<batch>& askers, const answer& a);
    void delay(const std::string& path);

    const sender send_;
    const std::function<void(bool)> report_delay_;
    std::map<std::string, directory> directories_;
    std::deque<std::string> delayed_;  ///< directories that wait because of most_in_flight
    std::size_t in_flight_ = 0;
};

}  // namespace latchkey::inline v0
