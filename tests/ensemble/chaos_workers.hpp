#pragma once

#include "chaos_worker.hpp"
#include "child_process.hpp"
#include "history.hpp"
#include "real_ensemble.hpp"
#include "server_proxies.hpp"
#include "tcp_proxy.hpp"

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace latchkey::test {

/// The worker processes of a chaos run. Each has a place of its own: proxies to the servers, and
/// the process that is there now; one that was killed is followed by another with a new number.
class chaos_workers {
public:
    /// One place for each of the orders. Histories go into `folder`.
    chaos_workers(const real_ensemble& servers,
                  const std::vector<chaos_order>& orders,
                  std::filesystem::path folder,
                  std::uint64_t seed);

    [[nodiscard]] std::size_t size() const { return places_.size(); }

    /// How many there have been so far.
    [[nodiscard]] std::size_t started() const { return recipes_.size(); }

    /// The present worker's number.
    [[nodiscard]] int number(std::size_t place) const { return places_[place].number; }

    [[nodiscard]] std::optional<std::size_t> place_of(int number) const;

    [[nodiscard]] const server_proxies<tcp_proxy>& proxies(std::size_t place) const {
        return places_[place].proxies;
    }

    void kill(std::size_t place);

    /// After a kill.
    void replace(std::size_t place) { start(places_[place]); }

    /// SIGSTOP; all of its threads stand still on return.
    void stop(std::size_t place) { places_[place].process->stop(); }

    void go_on(std::size_t place) { places_[place].process->send(SIGCONT); }

    /// No more turns; returns when all have drained, and stay connected.
    void drain();

    /// Of those that have drained.
    [[nodiscard]] std::uint64_t direct_grants() const noexcept { return direct_grants_; }

    /// Ends them. What went wrong with any of them so far, else empty.
    [[nodiscard]] std::string end();

    /// Everything that those of the recipe, also those that were killed, have told.
    void collect(recipe of, history::history& to) const;

private:
    struct slot {
        chaos_order order;
        server_proxies<tcp_proxy> proxies;
        int number = 0;
        std::unique_ptr<child_process> process = nullptr;
    };

    [[nodiscard]] std::string log_of(int number) const;
    void start(slot& p);

    std::filesystem::path folder_;
    std::mt19937_64 random_;
    std::vector<recipe> recipes_;  ///< of all workers so far: the first one is number 1
    std::uint64_t direct_grants_ = 0;
    std::string trouble_;  ///< a process that ended without being told to
    std::vector<slot> places_;
};

}  // namespace latchkey::test
