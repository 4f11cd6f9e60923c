#include "lost_updates.hpp"

#include "child_process.hpp"
#include "eventually.hpp"
#include "fenced_register.hpp"
#include "session_probe.hpp"

#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace latchkey::test {

using clock = std::chrono::steady_clock;

namespace {

void must(const reply& r) {
    if (!r.ok()) {
        throw std::runtime_error("the number's znode: " + std::to_string(static_cast<int>(r.code)));
    }
}

/// Where the number is.
class shared_number {
public:
    explicit shared_number(const lost_updates_options& o) : path_(o.path) {
        if (o.by == guard::transaction) {
            reader_ = std::make_unique<session_probe>(o.servers);
            must(reader_->call(
                request::create(znode(), "0", create_mode::persistent, open_unsafe_acl())));
        } else {
            register_ = std::make_unique<fenced_register>(
                o.folder / "register",
                o.by == guard::token ? fenced_register::policy::refuses_lower_tokens
                                     : fenced_register::policy::takes_everything);
        }
    }

    [[nodiscard]] std::string socket() const {
        return register_ ? register_->socket().string() : "none";
    }

    [[nodiscard]] std::int64_t value() {
        if (register_) {
            return register_->value(path_);
        }
        // A write: it is behind all others in the log.
        must(reader_->call(request::multi({request::check(znode())})));
        const reply now = reader_->call(request::get(znode()));
        must(now);
        return std::stoll(now.data);
    }

private:
    [[nodiscard]] std::string znode() const { return path_ + "-value"; }

    std::string path_;
    std::unique_ptr<session_probe> reader_;
    std::unique_ptr<fenced_register> register_;
};

/// A worker process, as its parent sees it.
struct updater {
    std::string log;
    child_process process;
    /// While it stands still: since when, and how much the others had written by then.
    std::optional<std::pair<clock::time_point, std::uintmax_t>> stopped = {};
};

class updaters {
public:
    updaters(const lost_updates_options& o, const std::string& socket) : options_(o) {
        for (int i = 0; i < o.processes; ++i) {
            updater_order order{
                .common = o,
                .register_socket = socket,
                .log = (o.folder / ("updater." + std::to_string(i))).string(),
                .worker = i,
            };
            order.common.seed = o.seed + static_cast<std::uint64_t>(i);
            // With a limit it is the first one that is stopped.
            order.common.stops = i == 0 || o.stops == SIZE_MAX ? o.stops : 0;
            std::ofstream(order.log).flush();
            all_.push_back({order.log, child_process(updater_arguments(order))});
        }
    }

    /// Lets go on whoever stands still and was overtaken, or cannot be.
    void look_after() {
        for (updater& u : all_) {
            if (!u.process.stopped()) {
                continue;
            }
            if (!u.stopped) {
                u.stopped.emplace(clock::now(), written_by_others(u));
            }
            const auto [since, written] = *u.stopped;
            if (written_by_others(u) > written ||
                clock::now() - since > 4 * options_.session_timeout) {
                u.stopped.reset();
                ++stops_;
                u.process.send(SIGCONT);
                static_cast<void>(eventually([&u] { return !u.process.stopped(); }));
            }
        }
    }

    [[nodiscard]] std::size_t stops() const { return stops_; }

    /// Ends them; what went wrong, else empty.
    std::string end() {
        for (const updater& u : all_) {
            u.process.send(SIGTERM);
        }
        std::string trouble;
        for (updater& u : all_) {
            const bool ended = eventually(
                [&] {
                    look_after();
                    return !u.process.running();
                },
                std::chrono::seconds(60));
            if (!ended || u.process.wait() != 0) {
                trouble += "a process failed; ";
            }
        }
        return trouble;
    }

    void count(lost_updates_outcome& to) const {
        for (const updater& u : all_) {
            std::ifstream in(u.log);
            for (std::string answer; std::getline(in, answer);) {
                to.acknowledged += answer == "acknowledged" ? 1 : 0;
                to.refused += answer == "refused" ? 1 : 0;
                to.unknown += answer == "unknown" ? 1 : 0;
            }
        }
    }

private:
    [[nodiscard]] std::uintmax_t written_by_others(const updater& than) const {
        std::uintmax_t sum = 0;
        for (const updater& u : all_) {
            sum += &u == &than ? 0 : std::filesystem::file_size(u.log);
        }
        return sum;
    }

    const lost_updates_options& options_;
    std::vector<updater> all_;
    std::size_t stops_ = 0;
};

}  // namespace

const char* to_string(guard g) noexcept {
    switch (g) {
        case guard::nothing:
            return "lock alone";
        case guard::token:
            return "fencing token";
        case guard::transaction:
            return "guarded transaction";
    }
    return "?";
}

lost_updates_outcome run_lost_updates(const lost_updates_options& options) {
    shared_number number(options);
    updaters workers(options, number.socket());
    static_cast<void>(eventually(
        [&] {
            workers.look_after();
            return workers.stops() >= options.stops;
        },
        options.duration));
    lost_updates_outcome result;
    result.trouble = workers.end();
    result.stops = workers.stops();
    result.applied = static_cast<std::size_t>(number.value());
    workers.count(result);
    return result;
}

}  // namespace latchkey::test
