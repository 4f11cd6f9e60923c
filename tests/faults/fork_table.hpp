#pragma once

#include <latchkey/barrier.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/group.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/leader_selector.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "loop/blocking_result.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {

/// An object of each public class, in the state in which it is used. What a child destroys has a
/// place of its own.
struct forked_world {
    forked_world();

    testing::ensemble servers;
    client c = servers.connect();
    mutex free{c, "/mutex"};
    mutex locked{c, "/locked"};
    recursive_mutex recursive{c, "/recursive"};
    recursive_mutex locked_recursive{c, "/locked_recursive"};
    shared_mutex rw{c, "/rw"};
    shared_mutex locked_rw{c, "/locked_rw"};
    shared_mutex read_rw{c, "/read_rw"};
    multi_mutex multi{c, {"/multi/a", "/multi/b"}};
    multi_mutex locked_multi{c, {"/multi/c", "/multi/d"}};
    semaphore permits{c, "/permits", 3};
    curator_semaphore leases{c, "/leases", 3};
    mutex kept{c, "/kept", {.retain_for = std::chrono::hours(1)}};
    mutex holding{c, "/held"};
    hold h = holding.acquire();
    mutex guarding{c, "/guarded"};
    std::optional<guard> g;
    mutex busy_holding{c, "/busy"};
    leader_latch latch{c, "/leader", {.id = "me", .preference = leader_preference{}}};
    leadership term = latch.wait();
    leader_observer seeing{c, "/leader"};
    leader_selector selector{
        c, "/selected", {.id = "me"}, [](const leadership&, const std::stop_token&) {}};
    barrier wall{c, "/barrier"};
    double_barrier rounds{c, "/rounds", 1};
    group members{c, "/group"};
    membership me = members.join("me");
    std::function<client_stats()> reader = c.stats_reader();
    bool in_child = false;

    /// For an asynchronous call: in the parent, waits until `done` was called, so that a thread
    /// that makes many calls does not pile them up.
    void wait(const std::function<void(std::function<void()> done)>& begin) const;
};

/// A public member, and a call of it.
struct fork_row {
    std::string member;  ///< "class::name"
    std::function<void(forked_world&)> call;
    /// What keeps a thread of the parent inside the member, if that is not `call`.
    std::function<void(forked_world&)> busy = nullptr;
    bool costly = false;  ///< called only in the children that are about it

    [[nodiscard]] const std::function<void(forked_world&)>& inside() const {
        return busy ? busy : call;
    }
};

inline std::ostream& operator<<(std::ostream& out, const fork_row& r) {
    return out << r.member;
}

using fork_rows = std::vector<fork_row>;

/// A participant that does not exist.
[[nodiscard]] inline participant nobody() {
    participant p;
    p.name = "nobody";
    p.path = "/nowhere/nobody";
    return p;
}

/// All of them; those that end or empty an object come last.
[[nodiscard]] fork_rows fork_table();

void add_rows_of_clients(fork_rows& rows);
void add_rows_of_holds(fork_rows& rows);
void add_rows_of_locks(fork_rows& rows);
void add_rows_of_shared_mutexes(fork_rows& rows);
void add_rows_of_leaders(fork_rows& rows);
void add_rows_of_meetings(fork_rows& rows);
void add_rows_of_ensembles(fork_rows& rows);

/// A handler of any signature.
struct any_handler {
    std::function<void()> done;

    template <class... Told>
    void operator()(const Told&... /*told*/) const {
        done();
    }
};

/// Starts what a function for coroutines returns.
template <class T>
void start_awaitable(forked_world& w, awaitable<T> a) {
    w.wait([&](std::function<void()> done) {
        std::move(a).start({}, awaitable_handler<T>([done](const error*, auto&&) { done(); }));
    });
}

template <class T>
constexpr bool is_awaitable = false;
template <class T>
constexpr bool is_awaitable<awaitable<T>> = true;

/// The rows of one class, each with a call of `of(world)`.
template <class Of>
class rows_of {
public:
    rows_of(fork_rows& rows, std::string name, Of of)
        : rows_(rows), name_(std::move(name)), of_(of) {}

    /// The rows of another object of the class.
    template <class Other>
    [[nodiscard]] rows_of<Other> beside(Other other) const {
        return {rows_, name_, other};
    }

    /// An awaitable that the call returns is started.
    template <class Call>
    void add(const std::string& member,
             Call call,
             std::function<void(forked_world&)> busy = nullptr) {
        add_row(
            member,
            [call, of = of_](forked_world& w) {
                using result = decltype(call(of(w)));
                if constexpr (is_awaitable<result>) {
                    start_awaitable(w, call(of(w)));
                } else {
                    static_cast<void>(call(of(w)));
                }
            },
            std::move(busy));
    }

    /// A call that takes a handler.
    template <class Call>
    void add_async(const std::string& member, Call call) {
        add_row(member, [call, of = of_](forked_world& w) {
            w.wait([&](std::function<void()> done) { call(of(w), any_handler{std::move(done)}); });
        });
    }

    /// Of an object that is made in the child, and of one that was made before.
    template <class Make>
    void add_life(Make make) {
        const auto live = [make](forked_world& w) { static_cast<void>(make(w)); };
        add_row(name_, live);
        add_row(
            '~' + name_, [of = of_](forked_world& w) { std::destroy_at(&of(w)); }, live, true);
    }

private:
    void add_row(const std::string& member,
                 std::function<void(forked_world&)> call,
                 std::function<void(forked_world&)> busy = nullptr,
                 bool costly = false) {
        rows_.push_back({name_ + "::" + member, std::move(call), std::move(busy), costly});
    }

    fork_rows& rows_;
    const std::string name_;
    const Of of_;
};

}  // namespace latchkey::test
