#include "client/guaranteed_deletes.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace latchkey::inline v0 {

guaranteed_deletes::pending& guaranteed_deletes::find_or_add(const std::string& path) {
    pending& p = pending_.try_emplace(path, loop_).first->second;
    size_.store(pending_.size(), std::memory_order_relaxed);
    return p;
}

void guaranteed_deletes::add(const std::string& path, gone_handler gone) {
    pending& p = find_or_add(path);
    if (gone) {
        p.gone.push_back(std::move(gone));
    }
    if (connected_ && !p.in_flight) {
        send(path, p);
    }
}

void guaranteed_deletes::add(const std::vector<std::string>& paths, const gone_handler& gone) {
    if (paths.size() == 1) {
        return add(paths.front(), gone);
    }
    gone_handler one_gone;
    if (gone) {
        struct together {
            std::size_t left;
            bool confirmed = true;
        };

        one_gone = [all = std::make_shared<together>(together{paths.size()}),
                    gone](bool confirmed) {
            all->confirmed = all->confirmed && confirmed;
            if (--all->left == 0) {
                gone(all->confirmed);
            }
        };
    }
    const auto together = std::make_shared<const std::vector<std::string>>(paths);
    for (const std::string& path : paths) {
        pending& one = find_or_add(path);
        one.together = together;
        if (one_gone) {
            one.gone.push_back(one_gone);
        }
    }
    if (connected_ && !paths.empty()) {
        send_together(paths);
    } else if (paths.empty() && gone) {
        gone(true);
    }
}

bool guaranteed_deletes::note_swap(const std::string& from, const std::vector<std::string>& to) {
    std::vector<std::string>& all = swaps_[from];
    const bool is_first = all.empty();
    all.insert(all.end(), to.begin(), to.end());
    return is_first;
}

void guaranteed_deletes::delete_swapped(const std::string& from) {
    if (swaps_.contains(from)) {
        add(from, nullptr);
    }
}

void guaranteed_deletes::connected() {
    connected_ = true;
    for (auto& [path, p] : pending_) {
        p.pause.reset();
        if (!p.in_flight) {
            send(path, p);
        }
    }
}

void guaranteed_deletes::suspended() {
    connected_ = false;
    for (auto& [path, p] : pending_) {
        p.retry.cancel();
    }
}

void guaranteed_deletes::session_ended(bool confirmed) {
    suspended();
    swaps_.clear();
    size_.store(0, std::memory_order_relaxed);
    for (auto& [path, p] : std::exchange(pending_, {})) {
        for (const gone_handler& gone : p.gone) {
            gone(confirmed);
        }
    }
}

void guaranteed_deletes::send(const std::string& path, pending& p) {
    if (p.together) {
        return send_together(*p.together);
    }
    p.in_flight = true;
    p.retry.cancel();
    send_(request::remove(path), [this, path = path](const reply& r) { answered(path, r.code); });
}

/// All of them are pending: they are answered together.
void guaranteed_deletes::send_together(const std::vector<std::string>& paths) {
    std::vector<request> removals;
    for (const std::string& path : paths) {
        pending& one = find_or_add(path);
        one.in_flight = true;
        one.retry.cancel();
        removals.push_back(request::remove(path));
    }
    send_(request::multi(std::move(removals)),
          [this, paths](const reply& r) { answered_together(paths, r.code); });
}

void guaranteed_deletes::answered(const std::string& path, result_code code) {
    const auto found = pending_.find(path);
    if (found == pending_.end()) {
        return;
    }
    if (code == result_code::ok || code == result_code::no_node) {
        auto finished = pending_.extract(found);
        size_.store(pending_.size(), std::memory_order_relaxed);
        const auto notify = [all = std::move(finished.mapped().gone)](bool confirmed) {
            for (const gone_handler& gone : all) {
                gone(confirmed);
            }
        };
        if (const auto swap = swaps_.extract(path)) {
            return add(swap.mapped(), notify);
        }
        notify(true);
        if (pending_.empty()) {
            emptied_();
        }
        return;
    }
    pending& p = found->second;
    p.in_flight = false;
    if (!outcome_unknown(code) && !p.reported) {
        p.reported = true;
        report_(path, code);
    }
    if (connected_) {
        p.retry.start(p.pause.next(loop_.random()), [this, path, &p] {
            if (!p.in_flight) {
                send(path, p);
            }
        });
    }
}

void guaranteed_deletes::answered_together(const std::vector<std::string>& paths,
                                           result_code code) {
    const bool refused = code != result_code::ok && !outcome_unknown(code);
    for (const std::string& path : paths) {
        const auto found = pending_.find(path);
        if (!refused || found == pending_.end()) {
            answered(path, code);
            continue;
        }
        // One of them was gone already, so none was deleted. Delete each one by itself.
        found->second.together = nullptr;
        found->second.in_flight = false;
        if (connected_) {
            send(path, found->second);
        }
    }
}

}  // namespace latchkey::inline v0
