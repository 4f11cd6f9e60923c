#include <latchkey/inspect.hpp>
#include <latchkey/lock_tree.hpp>

#include "look_at.hpp"
#include "sanitized.hpp"
#include "workers.hpp"

#include <array>

#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

void add_watchers_of_holds(stage& s) {
    for (int i = 0; i < 2; ++i) {
        s.add("onlooker", [](stage& on, stage::turns& t) {
            on.look_at_a_hold(t, [](const hold& h) { look_at(h); });
            t.pause(t.one_in(10) ? 1 : 0);
        });
    }
}

void add_inspector(stage& s) {
    s.add("inspector", [c = s.client_of(2)](stage&, stage::turns& t) {
        std::error_code ec;
        static_cast<void>(inspect(c, t.one_in(2) ? "/plain" : "/rw", ec));
        walk_locks(
            c, "/", [](const lock_tree_entry&) {}, {.max_znodes = 50}, ec);
        t.pause(50);
    });
}

/// Asks holders to give up, and takes locks away from them.
void add_operator(stage& s) {
    s.add("operator", [c = s.client_of(3)](stage&, stage::turns& t) {
        constexpr std::array paths{"/plain", "/kept", "/rw", "/lockable", "/lockable_rw"};
        std::error_code ec;
        const queue_view seen = inspect(c, paths.at(t.below(paths.size())), ec);
        if (!seen.participants.empty()) {
            const auto& whom = seen.participants.front();
            static_cast<void>(t.one_in(2) ? revoke(c, whom, ec)
                                          : break_hold(c, whom, "stress", ec));
        }
        t.pause(500);
    });
}

/// In the child every call returns. A sanitizer's allocator may be locked there, so with one the
/// child makes only calls that allocate nothing.
void use_in_a_child(const client& c, const mutex& m, const hold& h) {
    static_cast<void>(h.valid());
    static_cast<void>(h.remaining());
    static_cast<void>(h.why_lost());
    static_cast<void>(h.token());
    static_cast<void>(c.state());
    static_cast<void>(c.session_id());
    static_cast<void>(m.path());
    if constexpr (!sanitized) {
        look_at(h);
        std::error_code ec;
        static_cast<void>(c.last_error());
        static_cast<void>(c.stats());
        static_cast<void>(c.exists("/x", ec));
        static_cast<void>(inspect(c, "/plain", ec));
    }
}

void fork_and_use(stage& s, const client& c, const mutex& m, const hold& mine, const hold& theirs) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        use_in_a_child(c, m, mine);
        use_in_a_child(c, m, theirs);
        ::_exit(mine.valid() || theirs.valid() ? 1 : 0);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
        s.find("a forked child ended with the status " + std::to_string(status));
    }
}

void add_forker(stage& s) {
    s.add("forker", [c = s.client_of(0)](stage& on, stage::turns& t) {
        mutex m(c, "/forked");
        std::error_code ec;
        hold h = m.try_acquire_for(stress_patience, {}, ec);
        on.look_at_a_hold(t, [&](const hold& theirs) { fork_and_use(on, c, m, h, theirs); });
        h.release();
        t.pause(100);
    });
}

}  // namespace

void add_onlookers(stage& s) {
    add_watchers_of_holds(s);
    add_inspector(s);
    add_operator(s);
    add_forker(s);
}

}  // namespace latchkey::test
