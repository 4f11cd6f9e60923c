#include "telemetry/event_stream.hpp"

#include <utility>

namespace latchkey::inline v0 {

const char* to_string(event_kind k) noexcept {
    switch (k) {
        case event_kind::state:
            return "state";
        case event_kind::queued:
            return "queued";
        case event_kind::acquired:
            return "acquired";
        case event_kind::not_acquired:
            return "not_acquired";
        case event_kind::converted:
            return "converted";
        case event_kind::released:
            return "released";
        case event_kind::lost:
            return "lost";
        case event_kind::transaction:
            return "transaction";
        case event_kind::request:
            return "request";
    }
    return "unknown";
}

event_stream::event_stream(observer to, std::string client, runtime::executor run)
    : observer_(std::move(to)), client_(std::move(client)), run_(std::move(run)) {}

void event_stream::notify(const event& e, std::string path, std::string node) {
    if (ended_.load(std::memory_order_acquire)) {
        return;
    }
    if (pending_.fetch_add(1, std::memory_order_relaxed) >= capacity) {
        pending_.fetch_sub(1, std::memory_order_relaxed);
        drop();
        return;
    }
    run_([self = shared_from_this(),
          e = e,
          path = std::move(path),
          node = std::move(node)]() mutable {
        e.client = self->client_;
        e.path = path;
        e.node = node;
        if (self->observer_) {
            self->observer_(e);
        }
        self->pending_.fetch_sub(1, std::memory_order_relaxed);
    });
}

void event_stream::end(move_only_function<void()> done) {
    ended_.store(true, std::memory_order_release);
    run_([self = shared_from_this(), done = std::move(done)]() mutable {
        self->observer_ = nullptr;
        done();
    });
}

}  // namespace latchkey::inline v0
