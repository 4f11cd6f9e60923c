#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/virtual/datagram_network.hpp"
#include "ensemble/virtual/random_source.hpp"
#include "fault.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace latchkey::simulation {

struct options;
enum class corner : std::uint8_t;

/// What a run is to be, drawn from its seed: each enables other faults, at other rates, between
/// other clients, on other servers ("swarm testing").
struct plan {
    using duration = std::chrono::nanoseconds;

    /// A recipe object, and how many callers share it.
    struct object {
        std::string directory;  ///< absolute, whatever the client's chroot
        int callers = 1;
        std::vector<std::string> more_directories = {};  ///< that it is about at once

        [[nodiscard]] std::vector<std::string> directories() const {
            std::vector<std::string> all{directory};
            all.insert(all.end(), more_directories.begin(), more_directories.end());
            return all;
        }
    };

    struct client {
        std::string chroot;
        std::chrono::milliseconds session_timeout{};
        std::vector<object> objects;
    };

    testing::ensemble::options servers;
    std::vector<client> clients;
    std::chrono::milliseconds session_timeout{};  ///< the longest
    duration lasting{};                           ///< how long the faults go on
    duration longest_hold{};
    duration longest_rest{};
    double tries = 0.25;  ///< of the calls: those that do not wait
    /// The first leader is stopped then, so that the servers' ticks and what a leader asks its
    /// followers are apart in time; 0: not.
    duration election{};

    double drift = 0;  ///< every clock, of clients and servers, is at most this fraction off

    std::uint32_t permits = 1;  ///< the limit of semaphores at first
    double resizes = 0;         ///< probability of another limit before an acquire

    /// So many participants make a queue long; 0: as in a program.
    std::size_t long_queue = 0;

    bool timed = false;  ///< objects are given the times of lock_options, each its own

    bool turns = false;  ///< locks have local_passes and retain_for, each its own

    double direct = 0;     ///< of the clients: those that take part in direct hand-offs
    double guardians = 0;  ///< of the clients: those whose sessions end soon after a crash
    model::datagram_network::faults datagrams{};

    std::uint32_t wanted = 2;  ///< participants of a round

    double strangers = 0;    ///< of the candidates: those that know nothing of the leader's record
    double preferring = 0;   ///< of the others: those that take part in transfers and priorities
    double observing = 0;    ///< of the callers: those that only observe who leads
    double locking = 0;      ///< of a selector's callers: those that use a mutex on the same path
    double revocations = 0;  ///< probability of asking the first of a queue to give way, at a start
    double petitions = 0;    ///< probability of asking the leader to hand over, while at rest
    double scribbles = 0;    ///< probability of another program's data there

    by_fault<double> weights{};  ///< 0: never
    bool brief = false;          ///< troubles are shorter than a silence that is noticed
    duration interval{};         ///< between two strikes at any time, on average; 0: none
    double at_requests = 0;      ///< probability of one right before or after a request

    [[nodiscard]] bool uses(fault f) const noexcept { return weights[index_of(f)] > 0; }
};

/// All directories lie below it, and so do the chroots.
constexpr const char* root = "/app";
/// What guarded transactions write to.
constexpr const char* register_path = "/app/data";

/// Makes one of a corner of it.
void concentrate(plan& p, corner where, model::random_source& random);

[[nodiscard]] plan draw_plan(const options& how, model::random_streams& streams);

/// The rate of one clock of a run: often as far off as may be.
[[nodiscard]] double draw_clock_rate(const plan& p, model::random_source& clocks);

}  // namespace latchkey::simulation
