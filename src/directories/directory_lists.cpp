#include "directories/directory_lists.hpp"

#include <utility>

namespace latchkey::inline v0 {

void directory_lists::ask(question q) {
    const auto found = directories_.try_emplace(q.directory).first;
    directory& d = found->second;
    d.waiting.push_back(std::move(q));
    if (d.under_way) {
        return;
    }
    if (in_flight_ < most_in_flight) {
        send(found->first, d);
    } else if (d.waiting.size() == 1) {
        delay(found->first);
    }
}

void directory_lists::delay(const std::string& path) {
    delayed_.push_back(path);
    report_delay_(true);
}

oneshot<directory_lists::answer> directory_lists::list(std::string path,
                                                       std::function<void()> sent) {
    oneshot<answer> listed;
    question q{.directory = std::move(path), .answered = listed.setter()};
    ask_behind(std::move(q), std::move(sent), listed.alive());
    return listed;
}

oneshot<std::vector<directory_lists::answer>> directory_lists::list_all(
    const std::vector<std::string>& paths, std::function<void()> sent) {
    oneshot<std::vector<answer>> listed;

    struct gathered {
        std::vector<answer> lists;
        std::size_t unanswered;
    };

    const auto all =
        std::make_shared<gathered>(gathered{std::vector<answer>(paths.size()), paths.size()});
    for (std::size_t i = 0; i < paths.size(); ++i) {
        question q{.directory = paths[i],
                   .answered = [all, i, done = listed.setter()](const answer& a) {
                       all->lists[i] = a;
                       if (--all->unanswered == 0) {
                           done(std::move(all->lists));
                       }
                   }};
        const bool last = i + 1 == paths.size();
        ask_behind(std::move(q), last ? std::move(sent) : nullptr, listed.alive());
    }
    return listed;
}

/// `sent` is called only while the answer is awaited.
void directory_lists::ask_behind(question q,
                                 std::function<void()> sent,
                                 std::weak_ptr<const void> awaited) {
    if (sent) {
        q.sent = [sent = std::move(sent), awaited = std::move(awaited)] {
            if (!awaited.expired()) {
                sent();
            }
        };
    }
    ask(std::move(q));
}

void directory_lists::suspended() {
    const std::size_t delayed = std::exchange(delayed_, {}).size();
    for (auto& [path, d] : std::exchange(directories_, {})) {
        if (!d.waiting.empty()) {
            send(path, std::make_shared<batch>(std::move(d.waiting)));
        }
    }
    for (std::size_t i = 0; i < delayed; ++i) {
        report_delay_(false);
    }
}

void directory_lists::send(const std::string& path, directory& d) {
    d.under_way = std::make_shared<batch>(std::exchange(d.waiting, {}));
    send(path, std::shared_ptr(d.under_way));
}

void directory_lists::send(const std::string& path, const std::shared_ptr<batch>& askers) {
    ++in_flight_;
    const auto made = std::make_shared<listing>();
    send_(request::children(path), [this, path = path, askers = askers, made](reply r) {
        made->code = r.code;
        made->names = std::move(r.names);
        answered(path, askers, made);
    });
    for (const question& q : *askers) {
        if (q.sent) {
            q.sent();
        }
    }
}

void directory_lists::answered(const std::string& path,
                               const std::shared_ptr<batch>& askers,
                               const answer& a) {
    --in_flight_;
    // A participant that asks again shares the next list with those that wait for it.
    for (const question& q : *askers) {
        q.answered(a);
    }
    const auto found = directories_.find(path);
    if (found != directories_.end() && found->second.under_way == askers) {
        found->second.under_way = nullptr;
        if (found->second.waiting.empty()) {
            directories_.erase(found);
        } else {
            delay(path);
        }
    }
    while (in_flight_ < most_in_flight && !delayed_.empty()) {
        const auto next = directories_.find(delayed_.front());
        delayed_.pop_front();
        if (next != directories_.end() && !next->second.under_way) {
            send(next->first, next->second);
        }
        report_delay_(false);
    }
}

}  // namespace latchkey::inline v0
