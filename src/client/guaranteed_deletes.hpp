#pragma once

#include "loop/backoff.hpp"
#include "loop/loop.hpp"
#include "session/session.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Deletes of znodes of the present session that must happen. Each delete is repeated until the
/// znode is proven gone, or until the session is over, which removed it. On the loop only.
class guaranteed_deletes {
public:
    /// Receives true if the servers have confirmed that the znodes are gone.
    using gone_handler = std::function<void(bool confirmed)>;
    using sender = std::function<void(request, session::completion)>;
    using reporter = std::function<void(const std::string& path, result_code)>;

    /// `send` is called only while connected. `report` receives refusals, which are tried again
    /// nevertheless. `emptied` is called whenever the last delete has been answered (but
    /// session_ended() only returns).
    guaranteed_deletes(loop& l, sender send, reporter report, std::function<void()> emptied)
        : loop_(l),
          send_(std::move(send)),
          report_(std::move(report)),
          emptied_(std::move(emptied)) {}

    void add(const std::string& path, gone_handler gone);

    /// Deletes several znodes in one transaction, which is repeated as one; but each by itself once
    /// the servers have refused it, as they do when one of them is gone. `gone` is called when this
    /// is known of all of them.
    void add(const std::vector<std::string>& paths, const gone_handler& gone);

    /// A transaction that is about to be sent puts `to` in the place of `from`, which exist both or
    /// not at all. As long as `from` is there it can still be applied, even behind a delete of
    /// `to`. So once a delete of `from` has proven that it is gone, `to` are deleted. Returns false
    /// if another such transaction may be under way already.
    bool note_swap(const std::string& from, const std::vector<std::string>& to);

    /// It is known what came of it.
    void forget_swap(const std::string& from) { swaps_.erase(from); }

    /// `from` was found to be gone: by such a transaction, perhaps.
    void delete_swapped(const std::string& from);

    void connected();
    void suspended();

    /// Nothing more is sent. `confirmed`: the servers have ended the session, so all of its znodes
    /// are gone. Otherwise this client ends it, and they may still be there.
    void session_ended(bool confirmed);

    [[nodiscard]] bool empty() const noexcept { return pending_.empty(); }

    /// Any thread.
    [[nodiscard]] std::size_t size() const noexcept {
        return size_.load(std::memory_order_relaxed);
    }

private:
    struct pending {
        explicit pending(loop& l) : retry(l) {}

        /// What it is deleted with; null: by itself.
        std::shared_ptr<const std::vector<std::string>> together;
        bool in_flight = false;
        bool reported = false;
        std::vector<gone_handler> gone;
        timer retry;  ///< one for each, so that a delete that is always refused delays no other
        backoff pause{std::chrono::milliseconds(50), std::chrono::seconds(5)};
    };

    pending& find_or_add(const std::string& path);
    void send(const std::string& path, pending& p);
    void send_together(const std::vector<std::string>& paths);
    void answered(const std::string& path, result_code code);
    void answered_together(const std::vector<std::string>& paths, result_code code);

    loop& loop_;
    sender send_;
    reporter report_;
    std::function<void()> emptied_;
    bool connected_ = false;
    std::map<std::string, pending> pending_;
    std::map<std::string, std::vector<std::string>> swaps_;  ///< what may be in whose place
    std::atomic<std::size_t> size_{0};                       ///< of that
};

}  // namespace latchkey::inline v0
