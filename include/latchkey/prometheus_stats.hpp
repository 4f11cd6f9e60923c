#pragma once

#include <latchkey/client.hpp>
#include <latchkey/client_stats.hpp>
#include <latchkey/connection_state.hpp>
#include <latchkey/shared_ref.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

// For programs that use prometheus-cpp.

namespace latchkey::inline v0 {

/// What client::stats() says of some clients, as metrics for Prometheus. prometheus_metrics has
/// one. Any thread. In a forked child, an object of the parent's has no metrics.
class prometheus_stats final : public prometheus::Collectable {
public:
    /// `name` is the label `client`. Does not keep the client open.
    void add(const client& c, std::string name) {
        auto reader = c.stats_reader();
        if (born_ != fork_aware_lock::generation()) {
            return;  // a thread of the parent may have the guard
        }
        const std::lock_guard lock(guard_);
        clients_.emplace_back(std::move(name), std::move(reader));
    }

    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
        std::vector<prometheus::MetricFamily> all;
        named_stats now;
        if (born_ != fork_aware_lock::generation()) {
            return all;
        }
        {
            const std::lock_guard lock(guard_);
            for (const auto& [name, read] : clients_) {
                now.emplace_back(name, read());
            }
        }
        using s = const client_stats&;
        using enum prometheus::MetricType;
        family f{all, now};
        f.add("held", "Holds, and terms of leaders.", Gauge, [](s c) { return c.held; });
        f.add("waiting", "Calls that wait for a hold.", Gauge, [](s c) { return c.waiting; });
        f.add("connected", "1 while there is a connection.", Gauge, [](s c) {
            return std::uint64_t{is_connected(c.state)};
        });
        f.add("disconnected_seconds", "Since when there is no connection.", Gauge, [](s c) {
            return c.disconnected_for;
        });
        f.add("validity_left_seconds", "How long holds stay valid alone.", Gauge, [](s c) {
            return c.validity_left;
        });
        f.add("write_round_trip_seconds", "What the last write took.", Gauge, [](s c) {
            return c.write_round_trip;
        });
        f.add("deletes_pending", "Znodes to be deleted.", Gauge, [](s c) {
            return c.deletes_pending;
        });
        f.add("callback_seconds", "How long a function runs.", Gauge, [](s c) {
            return c.callback_running_for;
        });
        f.add("acquired_directly_total", "Holds that a datagram gave.", Counter, [](s c) {
            return c.acquired_directly;
        });
        f.add("sessions_total", "Sessions opened.", Counter, [](s c) { return c.sessions; });
        f.add("connections_total", "Connections.", Counter, [](s c) { return c.connections; });
        f.add("requests_total", "Requests sent.", Counter, [](s c) { return c.requests; });
        f.add("events_dropped_total", "Events not counted here.", Counter, [](s c) {
            return c.events_dropped;
        });
        return all;
    }

private:
    using named_stats = std::vector<std::pair<std::string, client_stats>>;

    /// Adds families with a value for each client.
    struct family {
        std::vector<prometheus::MetricFamily>& all;
        const named_stats& clients;

        template <class Value>
        void add(const char* name, const char* help, prometheus::MetricType type, Value value) {
            prometheus::MetricFamily f;
            f.name = "latchkey_";
            f.name += name;
            f.help = help;
            f.type = type;
            for (const auto& [client, stats] : clients) {
                prometheus::ClientMetric& m = f.metric.emplace_back();
                m.label = {{"client", client}};
                m.counter.value = m.gauge.value = to_number(value(stats));
            }
            if (!f.metric.empty()) {
                all.push_back(std::move(f));
            }
        }
    };

    static double to_number(std::uint64_t n) { return static_cast<double>(n); }

    static double to_number(std::chrono::nanoseconds d) {
        return std::chrono::duration<double>(d).count();
    }

    const std::uint64_t born_ = fork_aware_lock::generation();
    mutable std::mutex guard_;
    std::vector<std::pair<std::string, std::function<client_stats()>>> clients_;
};

}  // namespace latchkey::inline v0
