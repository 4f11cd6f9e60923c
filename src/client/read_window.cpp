#include "client/read_window.hpp"

#include "client/blocking_read.hpp"
#include "loop/monitor.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

namespace latchkey::inline v0 {

/// The part on the loop. Lives until the last answer.
class read_window::sender : public std::enable_shared_from_this<sender> {
public:
    explicit sender(std::shared_ptr<client_core> core) : core_(std::move(core)) {}

    // ---- the thread ----

    void add(std::vector<group> groups) {
        for (const group& g : groups) {
            unanswered_ += g.questions.size();
        }
        core_->post([self = shared_from_this(), groups = std::move(groups)]() mutable {
            std::move(groups.begin(), groups.end(), std::back_inserter(self->waiting_));
            self->send();
        });
    }

    std::vector<group> take() {
        monitor_lock lock(mutex_);
        while (!failed_ && (answered_.empty() || unanswered_ > enough)) {
            lock.wait(changed_);
        }
        failed_.raise();
        return std::exchange(answered_, {});
    }

    void end() noexcept { ended_ = true; }

private:
    // ---- the loop ----

    void send() {
        while (!ended_ && !waiting_.empty() && has_room_for(waiting_.front())) {
            group g = std::move(waiting_.front());
            waiting_.pop_front();
            in_flight_ += places_of(g.questions.size());
            start_read(
                core_,
                g.questions,
                [self = shared_from_this(), answered = g.answered, size = g.questions.size()](
                    const failure& why, std::vector<reply> replies) {
                    self->done(why, {{}, 0, answered, std::move(replies)}, size);
                },
                g.most_data);
        }
    }

    /// A group that is larger limits itself.
    static std::size_t places_of(std::size_t questions) noexcept {
        return std::min(questions, most_reads_in_flight);
    }

    [[nodiscard]] bool has_room_for(const group& g) const noexcept {
        return in_flight_ + places_of(g.questions.size()) <= most_reads_in_flight;
    }

    void done(const failure& why, group g, std::size_t questions) {
        in_flight_ -= places_of(questions);
        send();
        const monitor_lock lock(mutex_);
        unanswered_ -= questions;
        answered_.push_back(std::move(g));
        if (why && !failed_) {
            failed_ = why;
        }
        if (failed_ || unanswered_ <= enough) {
            changed_.notify_all();
        }
    }

    const std::shared_ptr<client_core> core_;
    std::deque<group> waiting_;
    std::size_t in_flight_ = 0;
    std::atomic<bool> ended_{false};
    std::atomic<std::size_t> unanswered_{0};

    thread_mutex mutex_;
    thread_condition changed_;
    std::vector<group> answered_ LATCHKEY_GUARDED_BY(mutex_);
    failure failed_ LATCHKEY_GUARDED_BY(mutex_);
};

read_window::read_window(std::shared_ptr<client_core> core)
    : core_(std::move(core)), sender_(std::make_shared<sender>(core_)) {}

read_window::~read_window() {
    sender_->end();
}

oneshot<std::vector<reply>> read_window::read(std::vector<request> questions,
                                              std::size_t most_data) {
    oneshot<std::vector<reply>> replies;
    open_ += questions.size();
    added_.push_back({std::move(questions), most_data, replies.setter()});
    return replies;
}

void read_window::take() {
    core_->check_may_block();
    if (!added_.empty()) {
        sender_->add(std::exchange(added_, {}));
    }
    for (group& g : sender_->take()) {
        open_ -= g.replies.size();
        for (const reply& r : g.replies) {
            newest_ = std::max({newest_, r.stat.ctime, r.stat.mtime});
        }
        g.answered(std::move(g.replies));
    }
}

}  // namespace latchkey::inline v0
