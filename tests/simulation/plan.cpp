#include "plan.hpp"

#include "recipe.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <cmath>

namespace latchkey::simulation {
namespace {

using namespace std::chrono_literals;
using duration = plan::duration;
using model::random_source;

/// As likely near the least as near the most, however far they are apart.
duration spread(random_source& r, duration least, duration most) {
    const double ratio = static_cast<double>(most.count()) / static_cast<double>(least.count());
    const double x = static_cast<double>(r.below(1'000'001)) / 1e6;
    return duration(
        static_cast<duration::rep>(static_cast<double>(least.count()) * std::pow(ratio, x)));
}

testing::ensemble::options draw_servers(std::uint64_t seed, random_source& r) {
    testing::ensemble::options o;
    o.mode = testing::ensemble::mode::stepped;
    o.seed = seed;
    o.servers = r.chance(0.1) ? 5 : 3;
    o.tick = spread(r, 200ms, 2s);
    o.one_way = spread(r, 100us, 5ms);
    o.jitter = r.chance(0.2) ? duration{} : o.one_way * static_cast<duration::rep>(r.below(4));
    o.between_servers = spread(r, 100us, 5ms);
    o.election = spread(r, 20ms, 500ms);
    o.sync_limit = 2 + static_cast<int>(r.below(5));
    o.container_interval = r.chance(0.3) ? 60s : spread(r, 100ms, 10s);
    return o;
}

std::vector<plan::client> draw_clients(random_source& r, std::chrono::milliseconds timeout) {
    std::vector<plan::client> clients;
    const std::size_t count = 3 + r.below(3);
    const bool two_locks = r.chance(0.2);
    const std::string lock = std::string(root) + (r.chance(0.3) ? "/jobs/lock" : "/lock");
    for (std::size_t i = 0; i < count; ++i) {
        plan::client c;
        c.chroot = r.chance(0.3) ? root : "";
        c.session_timeout = r.chance(0.2) ? timeout * 3 / 4 : timeout;
        const std::size_t objects = r.chance(0.3) ? 2 : 1;
        for (std::size_t k = 0; k < objects; ++k) {
            const bool other = two_locks && r.chance(0.4);
            c.objects.push_back({other ? std::string(root) + "/other" : lock,
                                 r.chance(0.25) ? 2 + static_cast<int>(r.below(2)) : 1});
        }
        clients.push_back(std::move(c));
    }
    return clients;
}

void draw_faults(const options& how, model::random_streams& streams, plan& p) {
    random_source& r = streams("faults");
    const bool quiet = !how.faults && r.chance(0.05);
    const double enabled = 0.1 + 0.5 * static_cast<double>(r.below(1000)) / 1000;
    for (std::size_t i = 0; i < fault_kinds; ++i) {
        random_source& of_this = streams("fault", i);
        const bool on = of_this.chance(enabled);
        const double much = std::exp2(static_cast<double>(of_this.below(5)) - 2);
        p.weights[i] = on && !quiet ? much : 0;
    }
    // These end what the others are to meet.
    for (const fault f : {fault::client_closed,
                          fault::crashed,
                          fault::sequence_ended,
                          fault::foreign_child,
                          fault::access_taken,
                          fault::quorum_lost}) {
        p.weights[index_of(f)] *= 0.2;
    }
    if (!quiet) {
        const duration tenth = duration(p.session_timeout) / 10;
        p.interval = r.chance(0.2) ? duration{} : spread(r, tenth / 3, tenth * 10);
        p.at_requests =
            p.interval != duration{} && r.chance(0.3) ? 0 : 0.003 * std::exp2(r.below(6));
    }
}

}  // namespace

double draw_clock_rate(const plan& p, random_source& clocks) {
    switch (clocks.below(4)) {
        case 0:
            return 1 - p.drift;
        case 1:
            return 1 + p.drift;
        case 2:
            return 1;
        default:
            return 1 + p.drift * (static_cast<double>(clocks.below(2'000'001)) / 1e6 - 1);
    }
}

plan draw_plan(const options& how, model::random_streams& streams) {
    random_source& random = streams("plan");
    plan p;
    p.drift = random.chance(0.2) ? 0.1 : random.chance(0.8) ? 0.01 : 0;
    p.servers = draw_servers(how.seed, streams("servers"));
    const int ticks = 2 + static_cast<int>(random.below(random.chance(0.5) ? 4 : 19));
    p.session_timeout = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(p.servers.tick * ticks, duration(1s)));
    p.clients = draw_clients(streams("clients"), p.session_timeout);
    const duration timeout = p.session_timeout;
    p.lasting = timeout * static_cast<duration::rep>(3 + random.below(6));
    p.longest_hold = spread(random, timeout / 50, timeout * 3 / 2);
    p.longest_rest = spread(random, timeout / 50, timeout);
    draw_faults(how, streams, p);
    if (random.chance(0.15)) {
        // The servers grant less than is asked for.
        const duration granted = std::max(p.servers.tick * 2, duration(p.session_timeout) * 2 / 3);
        p.servers.max_session_timeout = p.session_timeout =
            std::chrono::ceil<std::chrono::milliseconds>(granted);
    }
    concentrate(p, how.where, streams("corner"));
    p.weights = how.faults.value_or(p.weights);
    recipe_of(how.recipe).adapt(p, streams("recipe"));
    return p;
}

}  // namespace latchkey::simulation
