#include "user_watches.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace latchkey::test {
namespace {

class calling_watcher final : public session::watcher {
public:
    explicit calling_watcher(std::function<void()> call) : call_(std::move(call)) {}

    [[nodiscard]] bool is_on(std::string_view) const noexcept override { return true; }

    void on_event(watch_event) override { call_(); }

private:
    const std::function<void()> call_;
};

}  // namespace

std::shared_ptr<user_watches::watched> user_watches::make(const request& r) {
    auto w = std::make_shared<watched>();
    w->path = r.path;
    w->children = r.what == request::kind::children;
    w->watcher = std::allocate_shared<calling_watcher>(
        counting_allocator<calling_watcher>(kept_), [this, weak = std::weak_ptr(w)] {
            const auto self = weak.lock();
            ++stage_.result.watches;
            stage_.broken_if(++self->told > 1 || !self->set || self->over,
                             "A6",
                             "a watch that is not set, or is over, tells");
        });
    all_.push_back(w);
    return w;
}

void user_watches::set(watched& w, const reply& r) {
    w.set = true;
    w.mzxid = r.stat.mzxid;
    w.names = r.names;
    std::sort(w.names.begin(), w.names.end());
}

void user_watches::end_all() {
    for (const auto& w : all_) {
        w->over = w->set;
    }
    // What was not set yet may be, on the next connection.
    std::erase_if(all_, [](const auto& w) { return w->told > 0; });
}

void user_watches::note_changes() {
    for (const auto& w : all_) {
        if (w->set && !w->over && w->told == 0) {
            const auto node = stage_.servers.get(w->path);
            w->due = w->children ? stage_.servers.children(w->path) != w->names
                                 : !node || node->mzxid > w->mzxid;
        }
    }
}

void user_watches::check() const {
    for (const auto& w : all_) {
        stage_.broken_if(
            w->due && !w->over && w->told == 0, "A6", "a watch that never told: " + w->path);
    }
}

}  // namespace latchkey::test
