#pragma once

#include <latchkey/client.hpp>
#include <latchkey/event.hpp>
#include <latchkey/prometheus_stats.hpp>
#include <latchkey/shared_ref.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

// For programs that use prometheus-cpp. No other header of this library includes it.

namespace latchkey::inline v0 {

/// Metrics of one or more clients for Prometheus. docs/operations.md lists them.
///
///     latchkey::prometheus_metrics metrics;
///     auto zk = latchkey::client::connect("zk1,zk2,zk3", {.observer = metrics.observer()});
///     metrics.add(zk, "orders");
///     exposer.RegisterCollectable(metrics.collectable());  // or: write metrics.text() to a file
///
/// - Labels: each lock and each election is a time series of its own, so what is a label has to be
///   chosen. `label` makes it from the path that the recipe was given: return the same text for
///   all paths of one kind ("/accounts/4711" -> "/accounts"). Without it the path is the label.
///   Only the first `most_labels` different labels are used. Later ones become "other".
/// - Threads: any. - Lifetime: the observer and the collectable may outlive this object. It does
///   not keep clients open. - Cost: some hundred nanoseconds an event, on the observer's thread.
class prometheus_metrics {
public:
    using label_function = std::function<std::string(std::string_view path)>;

    explicit prometheus_metrics(label_function label = {}, std::size_t most_labels = 100)
        : state_(std::make_shared<state>(std::move(label), most_labels)) {}

    /// For client_options::observer. Several clients may share it.
    [[nodiscard]] std::function<void(const event&)> observer() const {
        return [s = state_](const event& e) { s->note(e); };
    }

    /// Adds what client::stats() says. `name` is the label `client`.
    void add(const client& c, std::string name) const { state_->add(c, std::move(name)); }

    /// For prometheus::Exposer::RegisterCollectable().
    [[nodiscard]] std::shared_ptr<prometheus::Collectable> collectable() const { return state_; }

    /// Everything, in the text format of Prometheus.
    [[nodiscard]] std::string text() const {
        return prometheus::TextSerializer().Serialize(state_->Collect());
    }

private:
    class state final : public prometheus::Collectable {
    public:
        state(label_function label, std::size_t most_labels)
            : label_(std::move(label)), most_labels_(most_labels) {}

        void note(const event& e) {
            if (is_inherited()) {
                return;
            }
            switch (e.what) {
                case event_kind::acquired:
                    observe(acquire_, e, {{"mode", to_string(e.mode)}, {"outcome", "acquired"}});
                    lead(e, true);
                    break;
                case event_kind::not_acquired:
                    observe(acquire_,
                            e,
                            {{"mode", to_string(e.mode)},
                             {"outcome", e.error ? "error" : "not_in_time"}});
                    break;
                case event_kind::released:
                case event_kind::lost:
                    observe(hold_, e, {{"mode", to_string(e.mode)}});
                    if (e.what == event_kind::lost) {
                        lost_.Add({{"lock", label_of(e)}, {"why", id_of(e.why)}}).Increment();
                    }
                    lead(e, false);
                    break;
                case event_kind::transaction:
                    transactions_.Add({{"outcome", e.error ? "failed" : "committed"}}).Increment();
                    break;
                case event_kind::request:
                    requests_.Add({{"operation", std::string(e.operation)}}, buckets())
                        .Observe(seconds(e.took));
                    break;
                case event_kind::state:
                case event_kind::queued:
                case event_kind::converted:
                    break;
            }
        }

        void add(const client& c, std::string name) { stats_.add(c, std::move(name)); }

        [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
            if (is_inherited()) {
                return {};
            }
            std::vector<prometheus::MetricFamily> all = registry_.Collect();
            for (prometheus::MetricFamily& f : stats_.Collect()) {
                all.push_back(std::move(f));
            }
            return all;
        }

    private:
        using labels = prometheus::Labels;

        /// In a forked child a thread of the parent may have the locks of all these.
        [[nodiscard]] bool is_inherited() const noexcept {
            return born_ != fork_aware_lock::generation();
        }

        static double seconds(std::chrono::nanoseconds d) {
            return std::chrono::duration<double>(d).count();
        }

        static prometheus::Histogram::BucketBoundaries buckets() {
            return {.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 300, 3600};
        }

        prometheus::Family<prometheus::Histogram>& histogram(const char* name, const char* help) {
            return prometheus::BuildHistogram()
                .Name(std::string("latchkey_") + name)
                .Help(help)
                .Register(registry_);
        }

        prometheus::Family<prometheus::Counter>& counter(const char* name, const char* help) {
            return prometheus::BuildCounter()
                .Name(std::string("latchkey_") + name)
                .Help(help)
                .Register(registry_);
        }

        std::string label_of(const event& e) {
            std::string label = label_ ? label_(e.path) : std::string(e.path);
            const std::lock_guard lock(guard_);
            if (used_.contains(label) || used_.size() < most_labels_) {
                used_.insert(label);
                return label;
            }
            return "other";
        }

        void observe(prometheus::Family<prometheus::Histogram>& in, const event& e, labels with) {
            with.emplace("lock", label_of(e));
            in.Add(with, buckets()).Observe(seconds(e.took));
        }

        void lead(const event& e, bool leads) {
            if (e.leads) {
                const labels of{{"election", label_of(e)}};
                leader_.Add(of).Set(leads ? 1 : 0);
                changes_.Add(of).Increment(leads ? 1 : 0);
            }
        }

        const std::uint64_t born_ = fork_aware_lock::generation();
        const label_function label_;
        const std::size_t most_labels_;
        prometheus::Registry registry_;
        prometheus::Family<prometheus::Histogram>& acquire_ =
            histogram("acquire_seconds", "From a call to its hold, or to its end without one.");
        prometheus::Family<prometheus::Histogram>& hold_ =
            histogram("hold_seconds", "From a grant to the release or the loss.");
        prometheus::Family<prometheus::Histogram>& requests_ =
            histogram("request_seconds", "From a request to its answer.");
        prometheus::Family<prometheus::Counter>& lost_ =
            counter("lost_total", "Holds that were lost, and terms that ended.");
        prometheus::Family<prometheus::Counter>& transactions_ =
            counter("transactions_total", "Transactions.");
        prometheus::Family<prometheus::Counter>& changes_ =
            counter("leader_changes_total", "Terms that began in this process.");
        prometheus::Family<prometheus::Gauge>& leader_ = prometheus::BuildGauge()
                                                             .Name("latchkey_leader")
                                                             .Help("1 while this process leads.")
                                                             .Register(registry_);
        std::mutex guard_;
        std::set<std::string> used_;
        prometheus_stats stats_;
    };

    std::shared_ptr<state> state_;
};

}  // namespace latchkey::inline v0
