#include "plan.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <utility>

// Plans that concentrate on one corner of all that can happen.

namespace latchkey::simulation {
namespace {

using namespace std::chrono_literals;
using duration = plan::duration;
using model::random_source;

constexpr std::array<std::pair<corner, const char*>, 11> names{{
    {corner::everywhere, "everywhere"},
    {corner::cut_off, "cut-off"},
    {corner::woken_up, "woken-up"},
    {corner::taken_away, "taken-away"},
    {corner::crowded, "crowded"},
    {corner::unresolved, "unresolved"},
    {corner::timed, "timed"},
    {corner::turns, "turns"},
    {corner::deep, "deep"},
    {corner::alone, "alone"},
    {corner::direct, "direct"},
}};

/// Clients ask for `times` as long as they get.
void set_timeout(plan& p, duration timeout, int times = 1) {
    p.session_timeout = std::chrono::ceil<std::chrono::milliseconds>(timeout);
    p.servers.max_session_timeout = p.session_timeout;
    for (plan::client& c : p.clients) {
        c.session_timeout = p.session_timeout * times;
    }
}

void set_objects(plan& p, std::size_t clients, std::initializer_list<plan::object> objects) {
    p.clients.resize(std::min(p.clients.size(), clients));
    for (plan::client& c : p.clients) {
        c.objects = objects;
    }
}

void set_weights(plan& p, std::initializer_list<std::pair<fault, double>> weights) {
    p.weights = {};
    for (const auto& [f, weight] : weights) {
        p.weights[index_of(f)] = weight;
    }
}

/// What the margins of validity are for: the leader has not been told of a session for as long as
/// can be, and will not be told any more. Sessions are short in ticks, clients idle or stopped
/// before they write, and messages travel fast.
void cut_off(plan& p, random_source& r) {
    p.servers.servers = 3;
    p.servers.tick = 500ms + 10ms * static_cast<int>(r.below(150));
    p.servers.one_way = 100us + 100us * static_cast<int>(r.below(10));
    p.servers.between_servers = 100us + 100us * static_cast<int>(r.below(10));
    p.servers.jitter = r.chance(0.5) ? duration{} : 100us;
    p.servers.sync_limit = 5;
    p.election =
        r.chance(0.8) ? 1ms + p.servers.tick * static_cast<int>(r.below(100)) / 100 : duration{};
    const std::string lock = std::string(root) + "/lock";
    if (r.chance(0.3)) {
        // Who holds one of them asks for the other all the time.
        set_objects(p, 4, {{lock, 1}, {std::string(root) + "/other", 1}});
        p.tries = 0.8;
    } else {
        set_objects(p, 4, {{lock, 1}});
    }
    set_timeout(p, p.servers.tick * (2 + static_cast<int>(r.below(2))), r.chance(0.2) ? 2 : 1);
    const duration timeout = p.session_timeout;
    p.lasting = timeout * 12;
    p.longest_hold = timeout / 2 + timeout * static_cast<int>(r.below(100)) / 50;
    p.longest_rest = p.tries > 0.5 ? timeout / 10 : timeout / 2 + timeout * 3 / 2;
    p.interval = timeout;
    if (p.tries < 0.5 && r.chance(0.4)) {
        // Who wakes up is cut off as soon as he has written something.
        set_weights(p, {{fault::cut_off, 0.01}, {fault::paused, 1}});
        p.at_requests = 0.1;
    } else {
        set_weights(p,
                    {{fault::cut_off, 4},
                     {fault::paused, 1},
                     {fault::requests_late, 0.3},
                     {fault::answers_late, 0.3}});
        p.at_requests = 0.3;
    }
}

/// The same for who was stopped: answers are late, and then the process, each for too short to be
/// noticed as a silence. Who wakes up is cut off as soon as he has written something.
void woken_up(plan& p, random_source& r) {
    cut_off(p, r);
    set_objects(p, 4, {{std::string(root) + "/lock", 1}});
    const duration timeout = p.session_timeout;
    p.tries = 0.25;
    p.brief = true;
    p.interval = timeout / 6;
    p.longest_rest = timeout * 2;
    set_weights(p, {{fault::cut_off, 0.01}, {fault::paused, 1}, {fault::answers_late, 1}});
    p.at_requests = 0.1;
}

/// Znodes that are held or waited for are deleted, also while their client is away for a moment.
void taken_away(plan& p, random_source& r) {
    set_objects(p, 4, {{std::string(root) + "/lock", 1}});
    set_timeout(p, std::max(p.servers.tick * 4, duration(2s)));
    const duration timeout = p.session_timeout;
    p.lasting = timeout * 8;
    p.longest_hold = timeout / 2;
    p.longest_rest = timeout / 4;
    set_weights(p,
                {{fault::znode_deleted, 4},
                 {fault::directory_deleted, r.chance(0.5) ? 3 : 1},
                 {fault::connection_cut, 1},
                 {fault::data_changed, 0.5},
                 {fault::unreachable, r.chance(0.5) ? 3 : 0}});
    p.interval = timeout / 3;
    p.at_requests = 0.05;
}

void crowded(plan& p, random_source& r) {
    set_objects(p, 3, {{std::string(root) + "/lock", 3 + static_cast<int>(r.below(2))}});
    const duration timeout = p.session_timeout;
    p.longest_hold = timeout;
    p.longest_rest = timeout / 4;
    p.tries = 0.1;
    set_weights(p,
                {{fault::session_expired, 2},
                 {fault::client_closed, 0.5},
                 {fault::znode_deleted, 1},
                 {fault::black_hole, 1},
                 {fault::paused, 1}});
    p.interval = timeout / 2;
    p.at_requests = 0.02;
}

/// Requests come late, from connections that are gone, and servers are behind each other.
void unresolved(plan& p) {
    set_objects(p, 4, {{std::string(root) + "/lock", 1}});
    p.longest_hold = p.session_timeout / 10;
    p.longest_rest = p.session_timeout / 10;
    set_weights(p,
                {{fault::requests_late, 2},
                 {fault::connection_cut, 2},
                 {fault::moved, 2},
                 {fault::server_late, 1},
                 {fault::follower_isolated, 1},
                 {fault::answer_lost, 1}});
    p.interval = p.session_timeout / 3;
    p.at_requests = 0.15;
}

/// Few objects that several callers share, and that they want again soon.
void turns(plan& p, random_source& r) {
    p.turns = true;
    const plan::object lock{std::string(root) + "/lock", 1 + static_cast<int>(r.below(3))};
    set_objects(p, 3, {lock});
    for (plan::client& c : p.clients) {
        c.objects.resize(1, lock);
    }
    const duration timeout = p.session_timeout;
    p.longest_hold = timeout / (r.chance(0.5) ? 4 : 40);
    p.longest_rest = timeout / (r.chance(0.5) ? 4 : 40);
    p.tries = 0.15;
}

/// Waiters that are not the next when they join, under each of the others' faults; and data of
/// other programs where holders leave theirs.
void deep(plan& p, random_source& r) {
    switch (r.below(5)) {
        case 0:
            taken_away(p, r);
            break;
        case 1:
            unresolved(p);
            break;
        case 2:
            crowded(p, r);
            break;
        default:
            break;
    }
    const std::string lock = std::string(root) + "/lock";
    const plan::object one{lock, r.chance(0.5) ? 1 : 2};
    for (plan::client& c : p.clients) {
        c.objects.assign(1 + r.below(2), one);
    }
    p.longest_hold = std::min(p.longest_hold, duration(p.session_timeout) / 4);
    p.longest_rest = std::min(p.longest_rest, duration(p.session_timeout) / 4);
    p.tries = 0.1;
    p.timed = r.chance(0.2);
    p.long_queue = 2 + r.below(2);
    p.scribbles = r.chance(0.3) ? 0.03 : 0;
}

/// Participants whose numbers follow each other, or not: the directory is removed and made again,
/// others come between, under the faults of several corners.
void alone(plan& p, random_source& r) {
    switch (r.below(4)) {
        case 0:
            unresolved(p);
            break;
        case 1:
            cut_off(p, r);
            break;
        case 2:
            break;
        default:
            set_weights(p,
                        {{fault::directory_deleted, 4},
                         {fault::containers_reaped, 1},
                         {fault::znode_deleted, 1},
                         {fault::foreign_child, 0.5},
                         {fault::data_changed, 0.5},
                         {fault::access_taken, 0.2},
                         {fault::connection_cut, 0.3},
                         {fault::requests_late, 0.5},
                         {fault::mutex_destroyed, 0.5}});
            p.interval = p.session_timeout / 2;
            p.at_requests = 0.01;
            break;
    }
    set_objects(p, 1 + r.below(3), {{std::string(root) + "/lock", 1}});
    p.longest_hold = std::min(p.longest_hold, duration(p.session_timeout) / 10);
    p.longest_rest = std::min(p.longest_rest, duration(p.session_timeout) / 4);
    p.tries = 0.1;
}

void direct(plan& p, random_source& r) {
    constexpr std::array others{corner::everywhere,
                                corner::cut_off,
                                corner::woken_up,
                                corner::taken_away,
                                corner::crowded,
                                corner::unresolved,
                                corner::timed,
                                corner::turns,
                                corner::deep,
                                corner::alone};
    concentrate(p, others[r.below(others.size())], r);
    p.direct = 0.5 + 0.5 * static_cast<double>(r.below(3)) / 2;
    p.guardians = 0.5;
    p.datagrams = {.lost = r.chance(0.5) ? 0.1 : 0,
                   .doubled = r.chance(0.5) ? 0.3 : 0,
                   .late = r.chance(0.5) ? 0.2 : 0,
                   .forged = r.chance(0.3) ? 0.1 : 0,
                   .latest = duration(p.session_timeout) * static_cast<int>(1 + r.below(4)) / 2};
}

}  // namespace

const char* to_string(corner c) noexcept {
    return names[static_cast<std::size_t>(c)].second;
}

std::optional<corner> corner_of(std::string_view name) noexcept {
    const auto* const found = std::find_if(
        names.begin(), names.end(), [&](const auto& entry) { return entry.second == name; });
    return found == names.end() ? std::nullopt : std::optional(found->first);
}

void concentrate(plan& p, corner where, random_source& random) {
    switch (where) {
        case corner::everywhere:
            return;
        case corner::cut_off:
            return cut_off(p, random);
        case corner::woken_up:
            return woken_up(p, random);
        case corner::taken_away:
            return taken_away(p, random);
        case corner::crowded:
            return crowded(p, random);
        case corner::unresolved:
            return unresolved(p);
        case corner::timed:
            p.timed = true;
            return;
        case corner::turns:
            return turns(p, random);
        case corner::deep:
            return deep(p, random);
        case corner::alone:
            return alone(p, random);
        case corner::direct:
            return direct(p, random);
    }
}

}  // namespace latchkey::simulation
