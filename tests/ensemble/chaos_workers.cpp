#include "chaos_workers.hpp"

#include "eventually.hpp"
#include "turn_log.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <utility>

namespace latchkey::test {

chaos_workers::chaos_workers(const real_ensemble& servers,
                             const std::vector<chaos_order>& orders,
                             std::filesystem::path folder,
                             std::uint64_t seed)
    : folder_(std::move(folder)), random_(seed) {
    for (const chaos_order& order : orders) {
        slot p{.order = order, .proxies = server_proxies<tcp_proxy>(servers)};
        p.order.servers = p.proxies.addresses();
        start(p);
        places_.push_back(std::move(p));
    }
}

std::string chaos_workers::log_of(int number) const {
    return (folder_ / ("worker." + std::to_string(number))).string();
}

void chaos_workers::start(slot& p) {
    recipes_.push_back(p.order.what);
    p.number = static_cast<int>(recipes_.size());
    chaos_order o = p.order;
    o.worker = p.number;
    o.seed = random_();
    o.log = log_of(p.number);
    p.process = std::make_unique<child_process>(chaos_worker.command(o));
}

std::optional<std::size_t> chaos_workers::place_of(int number) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i].number == number) {
            return i;
        }
    }
    return std::nullopt;
}

void chaos_workers::kill(std::size_t place) {
    slot& p = places_[place];
    if (!p.process->running()) {
        trouble_ += "worker " + std::to_string(p.number) + " had ended with " +
                    std::to_string(p.process->wait()) + "\n";
    }
    p.process->send(SIGKILL);
    p.process->wait();
}

void chaos_workers::drain() {
    for (slot& p : places_) {
        p.process->send(SIGTERM);
    }
    for (slot& p : places_) {
        const std::string mark = log_of(p.number) + ".drained";
        const bool drained =
            eventually([&] { return !p.process->running() || std::filesystem::exists(mark); },
                       std::chrono::seconds(60));
        if (!drained) {
            trouble_ += "worker " + std::to_string(p.number) + " does not stop\n";
        }
        std::uint64_t directly = 0;
        std::ifstream(mark) >> directly;
        direct_grants_ += directly;
    }
}

std::string chaos_workers::end() {
    for (slot& p : places_) {
        p.process->send(SIGINT);
        if (!eventually([&] { return !p.process->running(); }, std::chrono::seconds(60))) {
            trouble_ += "worker " + std::to_string(p.number) + " does not end\n";
            p.process->send(SIGKILL);
        }
        if (const int status = p.process->wait(); status != 0) {
            trouble_ += "worker " + std::to_string(p.number) + " ended with " +
                        std::to_string(status) + "\n";
        }
    }
    return trouble_;
}

void chaos_workers::collect(recipe of, history::history& to) const {
    for (std::size_t i = 0; i < recipes_.size(); ++i) {
        const int number = static_cast<int>(i) + 1;
        // One that was killed very early has not even begun a file.
        if (recipes_[i] == of && std::filesystem::exists(log_of(number))) {
            history::read_turns(log_of(number), number, to);
        }
    }
}

}  // namespace latchkey::test
