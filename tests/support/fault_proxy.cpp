#include "fault_proxy.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace latchkey::test {
namespace {

using kind = zookeeper_frame::kind;

std::size_t sum(const std::map<opcode, std::size_t>& counts) {
    std::size_t result = 0;
    for (const auto& [what, count] : counts) {
        result += count;
    }
    return result;
}

bool is_meant(const fault_proxy::selection& by,
              const zookeeper_frame& request,
              std::int64_t session) {
    return by.operation == request.operation && (by.session == 0 || by.session == session) &&
           (by.parts.empty() || by.parts == request.parts);
}

traffic_filter::then after(fault_proxy::then next) {
    switch (next) {
        case fault_proxy::then::cut:
            return traffic_filter::then::fin;
        case fault_proxy::then::silence:
            return traffic_filter::then::silence;
        default:
            return traffic_filter::then::go_on;
    }
}

}  // namespace

std::size_t fault_proxy::counts::lost() const {
    return sum(lost_requests) + sum(lost_replies);
}

/// What the test's thread and the proxy's share.
class fault_proxy::rules {
public:
    struct rule {
        part what;
        then next;
        selection of;
    };

    void add(rule r) {
        const std::lock_guard lock(mutex_);
        rules_.push_back(std::move(r));
    }

    void clear() {
        const std::lock_guard lock(mutex_);
        rules_.clear();
    }

    void delay_events(std::chrono::milliseconds time) {
        const std::lock_guard lock(mutex_);
        event_delay_ = time;
    }

    [[nodiscard]] std::chrono::milliseconds event_delay() const {
        const std::lock_guard lock(mutex_);
        return event_delay_;
    }

    /// The rule that a request falls under, used up once more.
    std::optional<rule> use(const zookeeper_frame& request, std::int64_t session) {
        const std::lock_guard lock(mutex_);
        for (auto& each : rules_) {
            if (each.of.times > 0 && is_meant(each.of, request, session)) {
                if (each.of.after > 0) {
                    --each.of.after;
                } else {
                    --each.of.times;
                    return each;
                }
            }
        }
        return std::nullopt;
    }

    template <class Change>
    void count(Change change) {
        const std::lock_guard lock(mutex_);
        change(counts_);
    }

    [[nodiscard]] counts counted() const {
        const std::lock_guard lock(mutex_);
        return counts_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<rule> rules_;
    std::chrono::milliseconds event_delay_{0};
    counts counts_;
};

/// One connection.
class fault_proxy::filter final : public traffic_filter {
public:
    explicit filter(std::shared_ptr<rules> shared) : rules_(std::move(shared)) {}

    std::vector<piece> take(direction way, std::string_view bytes) override {
        frame_stream& stream = stream_of(way);
        stream.feed(bytes);
        std::vector<piece> result;
        while (auto frame = stream.next()) {
            result.push_back(way == direction::to_server ? of_client(*std::move(frame))
                                                         : of_server(*std::move(frame)));
        }
        if (stream.broken()) {
            result.push_back({stream.rest()});
        }
        return result;
    }

    std::string kept(direction way) override { return stream_of(way).rest(); }

private:
    frame_stream& stream_of(direction way) { return streams_.at(static_cast<std::size_t>(way)); }

    piece of_client(std::string bytes) {
        const zookeeper_frame frame = talk_.from_client(bytes);
        if (frame.what == kind::malformed) {
            rules_->count([](counts& c) { ++c.malformed; });
            return {std::move(bytes)};
        }
        if (frame.what == kind::connect) {
            session_ = frame.session;
        }
        const auto rule = rules_->use(frame, session_);
        if (rule && rule->what == part::request) {
            rules_->count([&](counts& c) { ++c.lost_requests[frame.operation]; });
            return {.bytes = {}, .after = after(rule->next)};
        }
        if (rule) {
            to_lose_.emplace(frame.xid, after(rule->next));
        }
        rules_->count([&](counts& c) { ++c.requests[frame.operation]; });
        return {std::move(bytes)};
    }

    piece of_server(std::string bytes) {
        const zookeeper_frame frame = talk_.from_server(bytes);
        if (frame.what == kind::malformed) {
            rules_->count([](counts& c) { ++c.malformed; });
            return {std::move(bytes)};
        }
        if (frame.what == kind::event) {
            rules_->count([](counts& c) { ++c.events; });
            return {std::move(bytes), rules_->event_delay()};
        }
        if (frame.what == kind::connected) {
            session_ = frame.session;
        }
        if (const auto found = to_lose_.find(frame.xid); found != to_lose_.end()) {
            const then next = found->second;
            to_lose_.erase(found);
            rules_->count([&](counts& c) { ++c.lost_replies[frame.operation]; });
            return {.bytes = {}, .after = next};
        }
        rules_->count([&](counts& c) { ++c.replies[frame.operation]; });
        return {std::move(bytes)};
    }

    const std::shared_ptr<rules> rules_;
    std::array<frame_stream, 2> streams_;
    zookeeper_conversation talk_;
    std::int64_t session_ = 0;
    std::map<std::int32_t, then> to_lose_;  ///< the replies, by their xid
};

fault_proxy::fault_proxy(const std::string& server)
    : fault_proxy(server, std::make_shared<rules>()) {}

fault_proxy::fault_proxy(const std::string& server, const std::shared_ptr<rules>& shared)
    : tcp_proxy(server, [shared] { return std::make_unique<filter>(shared); }), rules_(shared) {}

fault_proxy::~fault_proxy() = default;

void fault_proxy::lose(part what, then next, selection of) {
    rules_->add({what, next, std::move(of)});
}

void fault_proxy::lose_nothing() {
    rules_->clear();
}

void fault_proxy::delay_events(std::chrono::milliseconds time) {
    rules_->delay_events(time);
}

fault_proxy::counts fault_proxy::counted() const {
    return rules_->counted();
}

}  // namespace latchkey::test
