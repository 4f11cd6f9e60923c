#include <latchkey/acl.hpp>
#include <latchkey/error.hpp>

#include "adversary.hpp"
#include "ensemble/cluster.hpp"
#include "ensemble/ensemble_session.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

// What is done.

namespace latchkey::simulation {

using namespace std::chrono_literals;

/// What could keep a client from hearing at once what becomes of its znodes.
void adversary::note_disturbance(fault f) {
    switch (f) {
        case fault::znode_deleted:
        case fault::directory_deleted:
        case fault::containers_reaped:
        case fault::foreign_child:
            return;
        case fault::connection_cut:
        case fault::data_changed:
            stage_.last_cut = std::max(stage_.last_cut, stage_.now());
            return;
        default:
            ++stage_.disturbances;
            stage_.last_trouble = stage_.now();
    }
}

void adversary::strike(fault f, std::int64_t session) {
    if (rests()) {
        return;
    }
    ++strikes_;
    stage_.tell("!! ", to_string(f), ", ", session & 0xffff);
    stage_.mark(index_of(f));
    ++stage_.counts.faults[index_of(f)];
    note_disturbance(f);
    try {
        if (f <= fault::cut_off) {
            connection_trouble(f, session);
        } else if (f <= fault::session_replaced) {
            process_trouble(f, session);
        } else if (f <= fault::sequence_ended) {
            operator_trouble(f, session);
        } else if (f <= fault::quorum_lost) {
            server_trouble(f);
        } else if (program* const p = program_of(session)) {
            p->meddle(f);
        }
    } catch (const error& e) {
        stage_.tell("   without effect: ", e.what());
    }
}

// ---- connections ----

void adversary::connection_trouble(fault f, std::int64_t session) {
    const auto process = stage_.cluster.process_of(session);
    if (process == nullptr) {
        return;
    }
    switch (f) {
        case fault::unreachable:
            process->refused = true;
            stage_.servers.cut(session);
            return undo_later(lasting(), [process] { process->refused = false; });
        case fault::black_hole:
            stage_.cluster.black_hole(*process, true);
            return undo_later(
                lasting(), [&all = stage_.cluster, process] { all.black_hole(*process, false); });
        case fault::answers_late:
        case fault::requests_late:
            return late(f,
                        session,
                        stage_.what.brief
                            ? lasting()
                            : stage_.up_to("connection_trouble", stage_.what.session_timeout));
        case fault::cut_off:
            return cut_off(session);
        case fault::moved: {
            const int to = some_server(stage_.random("connection_trouble").chance(0.3));
            lag(to, stage_.up_to("connection_trouble", stage_.what.session_timeout / 4));
            return stage_.servers.move(session, to);
        }
        default:
            return stage_.servers.cut(session);
    }
}

/// What is on its way in one direction, and what follows it on that connection, comes later.
void adversary::late(fault f, std::int64_t session, duration lasting) {
    const auto process = stage_.cluster.process_of(session);
    const auto direction = [f](model::connection& c) -> model::channel& {
        return f == fault::answers_late ? c.to_client : c.to_server;
    };
    std::vector<std::weak_ptr<model::connection>> held;
    for (const auto& weak : process->connections) {
        if (const auto c = weak.lock()) {
            direction(*c).hold(true, c);
            held.push_back(c);
        }
    }
    undo_later(lasting, [this, held, direction, session] {
        for (const auto& weak : held) {
            if (const auto c = weak.lock()) {
                direction(*c).hold(false, c);
            }
        }
        if (stage_.what.brief && stage_.random("late").chance(0.7)) {
            // One follows the other: each is too short to be noticed as a silence.
            undo_later(1ms, [this, session] { strike(fault::paused, session); });
        }
    });
}

/// From now on the follower tells the leader nothing, and its client reaches nobody else: what was
/// just answered is the last that the client hears, and the leader may not have been told of it.
void adversary::cut_off(std::int64_t session) {
    const auto process = stage_.cluster.process_of(session);
    const auto sessions = stage_.servers.sessions();
    const auto found = std::find_if(
        sessions.begin(), sessions.end(), [&](const auto& s) { return s.id == session; });
    if (cut_off_ || found == sessions.end() || !found->connected ||
        found->server == stage_.servers.leader()) {
        return;
    }
    const duration timeout = stage_.what.session_timeout;
    const int follower = found->server;
    cut_off_ = true;
    stage_.servers.isolate(follower);
    process->black_holed = true;  // what is there stays: it may hear that answer, and late
    undo_later(timeout + stage_.up_to("cut_off", timeout), [this, process, follower] {
        cut_off_ = false;
        stage_.cluster.black_hole(*process, false);
        stage_.servers.heal(follower);
    });
    if (stage_.random("cut_off").chance(0.3)) {
        late(fault::answers_late, session, stage_.up_to("cut_off", timeout / 4));
    }
}

// ---- processes and sessions ----

void adversary::process_trouble(fault f, std::int64_t session) {
    program* const p = program_of(session);
    if (p == nullptr) {
        return;
    }
    switch (f) {
        case fault::paused:
            p->pause();
            return undo_later(lasting(), [this, weak = p->weak_from_this()] {
                const auto victim = weak.lock();
                if (!victim) {
                    return;
                }
                victim->resume();
                if (stage_.what.uses(fault::cut_off) && !stage_.calm &&
                    victim->record()->holds == 0) {
                    // What it writes now says nothing of what the leader was told meanwhile.
                    after_answer_[victim->record()->session] = fault::cut_off;
                }
            });
        case fault::crashed:
            if (crashes_left_-- > 0) {
                p->crash();
                // Its guardian may be slow, and the servers may be out of its reach.
                undo_later(lasting(), [this, crashed = p->record()] {
                    if (crashed->guarded != 0) {
                        ++stage_.counts.guarded;
                        judge_.log().ended_by_force(crashed->guarded);
                        stage_.servers.expire(crashed->guarded);
                    }
                });
            }
            return;
        case fault::session_expired:
            judge_.log().ended_by_force(session);
            return stage_.servers.expire(session);
        default:
            stage_.servers.replace(session);
            return stage_.servers.cut(session);
    }
}

// ---- the operator ----

void adversary::operator_trouble(fault f, std::int64_t session) {
    const std::string directory = some_directory();
    std::shared_ptr<participant> victim;
    for (const auto& [czxid, p] : judge_.log().queue_of(directory)) {
        if (p->owner == session) {
            victim = p;
        }
    }
    switch (f) {
        case fault::znode_deleted:
            return victim ? stage_.servers.remove(stage_.recipe.victim(stage_, *victim)) : void();
        case fault::data_changed:
            if (victim) {
                stage_.servers.set(stage_.recipe.victim(stage_, *victim), "from the operator");
            }
            return;
        case fault::directory_deleted:
            return delete_directory(directory);
        case fault::foreign_child:
            return add_foreign_child(directory);
        case fault::containers_reaped:
            return stage_.servers.reap_containers();
        case fault::access_taken: {
            const auto allowed =
                static_cast<permission>(stage_.random("operator_trouble").below(32));
            stage_.servers.set_acl(directory, {{"world", "anyone", allowed}});
            stage_.last_refusal = stage_.now();
            return undo_later(lasting(), [this, directory] {
                if (stage_.troubles > 0 && !stage_.calm) {
                    throw error(errc::unreachable, "a leader that is isolated would forget it");
                }
                stage_.servers.set_acl(directory, open_unsafe_acl());
            });
        }
        default: {
            if (!stage_.servers.exists(directory) || !sequences_ended_.insert(directory).second) {
                return;
            }
            constexpr std::int64_t reserved = std::int64_t{1} << 20U;
            constexpr std::int64_t end = (std::int64_t{1} << 31U) - 1;
            const std::int64_t near =
                stage_.random("operator_trouble").chance(0.5) ? end : end - reserved;
            const auto left = static_cast<std::int64_t>(stage_.random("operator_trouble").below(6));
            return stage_.servers.set_sequence(directory, static_cast<std::int32_t>(near - left));
        }
    }
}

void adversary::delete_directory(const std::string& directory) {
    std::vector<std::string> names = stage_.servers.children(directory);
    if (stage_.random("delete_directory").chance(0.5)) {
        std::reverse(names.begin(), names.end());
    }
    for (const std::string& name : names) {
        stage_.servers.remove(directory + '/' + name);
    }
    stage_.servers.remove(directory);
}

void adversary::add_foreign_child(const std::string& directory) {
    constexpr std::array names{
        "notes",
        "lock-",
        "lock",
        "_c_0f0f0f0f-lock-000000001",
        "lock-00000000001",
        "write-lock-99",
        "_c_00000000-0000-4000-8000-000000000000-lock-0000000002",
        "lock-2147483648",
        "lock--000000005",
    };
    std::string name = names[stage_.random("add_foreign_child").below(names.size())];
    rename(name);
    const std::string path = directory + '/' + name;
    stage_.servers.create(path);
    if (!judge_.log().looks_like_participant(path)) {
        return;  // it takes no part, however long it stays
    }
    undo_later(lasting(), [&e = stage_.servers, path] { e.remove(path); });
}

/// As the participants of this recipe are called.
void adversary::rename(std::string& name) {
    constexpr std::string_view marker = "lock-";
    const naming n = stage_.recipe.names();
    const std::size_t at = name.find(marker);
    if (at != std::string::npos) {
        const bool shared = !n.shared.empty() && stage_.random("rename").chance(0.5);
        name.replace(at, marker.size(), shared ? n.shared : n.exclusive);
    }
}

// ---- servers ----

/// A follower is behind. What has waited for it when that ends comes no sooner.
void adversary::lag(int follower, duration by) {
    stage_.servers.lag(follower, by);
    undo_later(lasting(), [this, follower, by] {
        stage_.servers.lag(follower, {});
        stage_.last_cut = std::max(stage_.last_cut, stage_.now() + by);
    });
}

void adversary::server_trouble(fault f) {
    auto& servers = stage_.servers;
    const int victim =
        some_server(f == fault::leader_isolated || stage_.random("server_trouble").chance(0.3));
    const auto undo = [&](void (testing::ensemble::*verb)(int)) {
        undo_later(lasting(), [&servers, verb, victim] { (servers.*verb)(victim); });
    };
    switch (f) {
        case fault::server_stopped:
            servers.stop_server(victim);
            return undo(&testing::ensemble::start_server);
        case fault::server_paused:
            servers.pause_server(victim);
            return undo(&testing::ensemble::resume_server);
        case fault::follower_isolated:
        case fault::leader_isolated:
            servers.isolate(victim);
            return undo(&testing::ensemble::heal);
        case fault::server_late: {
            const int follower = some_server(false);
            return lag(follower, stage_.up_to("server_trouble", stage_.what.session_timeout / 3));
        }
        default: {
            const duration how_long = lasting();
            for (int i = 0; i < stage_.cluster.majority(); ++i) {
                servers.stop_server(i);
                undo_later(how_long, [&servers, i] { servers.start_server(i); });
            }
            return;
        }
    }
}

}  // namespace latchkey::simulation
