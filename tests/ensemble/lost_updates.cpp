#include "lost_updates.hpp"

#include <latchkey/client.hpp>

#include "eventually.hpp"
#include "fenced_register.hpp"
#include "real_ensemble.hpp"
#include "test_authority.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace latchkey::test {

using clock = std::chrono::steady_clock;

namespace {

/// A worker process, as its parent sees it.
struct updater {
    std::string log;
    std::unique_ptr<child_process> process;
    /// While it stands still: since when, and how much the others had written by then.
    std::optional<std::pair<clock::time_point, std::uintmax_t>> stopped = {};
};

class updaters {
public:
    updaters(const lost_updates_options& o, updater_order order, const test_folder& folder)
        : patience_(o.stops == SIZE_MAX ? 4 * o.session_timeout : o.duration) {
        for (int i = 0; i < o.processes; ++i, ++order.seed) {
            order.log = folder.write("updater." + std::to_string(i), "");
            order.worker = i;
            // With a limit it is the first one that is stopped.
            order.stops = i == 0 || o.stops == SIZE_MAX ? o.stops : 0;
            all_.push_back(
                {order.log, std::make_unique<child_process>(updater_program.command(order))});
        }
    }

    /// Lets go on whoever stands still and was overtaken, or cannot be.
    void look_after() {
        for (updater& u : all_) {
            if (!u.process->stopped()) {
                continue;
            }
            if (!u.stopped) {
                u.stopped.emplace(clock::now(), written_by_others(u));
            }
            const auto [since, written] = *u.stopped;
            if (written_by_others(u) > written || clock::now() - since > patience_) {
                u.stopped.reset();
                ++stops_;
                u.process->send(SIGCONT);
                static_cast<void>(eventually([&u] { return !u.process->stopped(); }));
            }
        }
    }

    [[nodiscard]] std::size_t stops() const { return stops_; }

    /// Ends them; what went wrong, else empty.
    std::string end() {
        for (const updater& u : all_) {
            u.process->send(SIGTERM);
        }
        std::string trouble;
        for (updater& u : all_) {
            const bool ended = eventually(
                [&] {
                    look_after();
                    return !u.process->running();
                },
                std::chrono::seconds(60));
            trouble += ended && u.process->wait() == 0 ? "" : "a process failed; ";
        }
        return trouble;
    }

    /// How often that was the answer to an update.
    [[nodiscard]] std::size_t count(const std::string& wanted) const {
        std::size_t times = 0;
        for (const updater& u : all_) {
            std::ifstream in(u.log);
            for (std::string answer; std::getline(in, answer);) {
                times += answer == wanted ? 1 : 0;
            }
        }
        return times;
    }

private:
    [[nodiscard]] std::uintmax_t written_by_others(const updater& than) const {
        std::uintmax_t sum = 0;
        for (const updater& u : all_) {
            sum += &u == &than ? 0 : std::filesystem::file_size(u.log);
        }
        return sum;
    }

    std::chrono::milliseconds patience_;
    std::vector<updater> all_;
    std::size_t stops_ = 0;
};

}  // namespace

lost_updates_outcome run_lost_updates(const lost_updates_options& o) {
    const test_folder folder;
    const fenced_register number(folder.path("register"),
                                 o.by == guard::token
                                     ? fenced_register::policy::refuses_lower_tokens
                                     : fenced_register::policy::takes_everything);
    const updater_order order{.by = o.by,
                              .servers = o.servers,
                              .path = real_ensemble::fresh_path(),
                              .session_timeout = o.session_timeout,
                              .seed = o.seed,
                              .one_in = o.one_in,
                              .register_socket = number.socket()};
    const client reader = client::connect(o.servers);
    static_cast<void>(reader.transact({operation::create(order.znode(), "0")}));
    updaters workers(o, order, folder);
    static_cast<void>(eventually(
        [&] {
            workers.look_after();
            return workers.stops() >= o.stops && workers.count("acknowledged") >= o.updates;
        },
        o.duration));
    lost_updates_outcome result;
    result.trouble = workers.end();
    result.stops = workers.stops();
    result.acknowledged = workers.count("acknowledged");
    result.unknown = workers.count("unknown");
    result.refused = workers.count("refused");
    result.applied = static_cast<std::size_t>(
        o.by == guard::transaction
            ? std::stoll(reader.get(order.znode(), read_from::quorum).value().data)
            : number.value(order.path));
    return result;
}

}  // namespace latchkey::test
