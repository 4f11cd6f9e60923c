#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "eventually.hpp"
#include "loop/blocking_result.hpp"
#include "plain_coroutine.hpp"
#include "workers.hpp"

#include <stdexcept>
#include <system_error>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// Longer than any call may take that the library ends by itself.
constexpr std::chrono::minutes never_so_long{2};

/// A handler that destroys what it comes from, and throws.
void add_handlers(stage& s, std::size_t i) {
    s.add("handler", [c = s.client_of(i)](stage& on, stage::turns&) {
        auto m = std::make_shared<mutex>(c, "/async");
        const auto done = std::make_shared<blocking_result<bool>>();
        m->async_acquire(stress_patience, {}, [m, done](std::error_code, hold h) mutable {
            m.reset();
            h.release();
            done->set(true);
            throw std::runtime_error("a handler throws");
        });
        m.reset();
        if (!done->get_for(never_so_long)) {
            on.find("a handler was not called");
        }
    });
}

detached_coroutine take_in_a_coroutine(std::shared_ptr<mutex> m,
                                       acquire_options options,
                                       std::shared_ptr<blocking_result<bool>> done) {
    try {
        auto acquiring = m->acquire_async(std::move(options));
        hold h = co_await std::move(acquiring);
        if (h) {
            std::vector<operation> all;
            all.push_back(operation::set("/x", "4"));
            auto call = with_error(h.transact_async(std::move(all)));
            static_cast<void>(co_await std::move(call));
        }
    } catch (const error&) {
    }
    done->set(true);
}

void add_coroutines(stage& s, std::size_t i) {
    s.add("coroutine", [c = s.client_of(i)](stage& on, stage::turns& t) {
        const auto m = std::make_shared<mutex>(c, "/coroutines");
        std::stop_source stop;
        const auto done = std::make_shared<blocking_result<bool>>();
        take_in_a_coroutine(m, {.stop = stop.get_token(), .reserved = nullptr}, done);
        if (t.one_in(3) || !done->get_for(stress_patience)) {
            stop.request_stop();
        }
        if (!done->get_for(never_so_long)) {
            on.find("a coroutine did not go on");
        }
    });
}

/// A client that is closed in a handler of its own, and another one whose copies are assigned and
/// moved while a thread uses it.
void add_clients(stage& s) {
    s.add("client", [](stage& on, stage::turns&) {
        client c = on.servers().connect(on.options());
        mutex m(c, "/plain");
        const auto done = std::make_shared<blocking_result<bool>>();
        m.async_acquire(stress_patience, {}, [c, done](std::error_code, hold h) {
            c.close();
            h.release();
            done->set(true);
        });
        if (!done->get_for(never_so_long)) {
            on.find("a handler of a client that is closed was not called");
        }
        c.close();
    });
    const auto shared = std::make_shared<client>(s.client_of(0));
    s.add("assigned_client", [shared](stage& on, stage::turns& t) {
        *shared = on.client_of(t.below(4));
        const client taken = std::move(*shared);
        *shared = taken;
        t.pause(1);
    });
    s.add("used_client", [shared](stage&, stage::turns&) {
        std::error_code ec;
        static_cast<void>(shared->state());
        static_cast<void>(shared->stats());
        static_cast<void>(shared->last_error());
        static_cast<void>(shared->exists("/x", ec));
        try {
            const subscription shortly = shared->on_change([](connection_state) {});
        } catch (const error& e) {
            if (e.code() != errc::closed) {  // it was moved from at that moment
                throw;
            }
        }
    });
}

/// Its stop callbacks wait for a thread that uses another client. That must be possible.
void add_slow_stop_callbacks(stage& s) {
    s.add("slow_stop_callback", [](stage& on, stage::turns& t) {
        const client c = on.servers().connect(on.options());
        mutex m(c, "/slow");
        std::error_code ec;
        const hold h = m.try_acquire_for(stress_patience, {}, ec);
        const auto wait_for_a_worker = [&on] {
            std::thread worker([&on] {
                std::error_code failed;
                static_cast<void>(on.client_of(0).get("/x", failed));
            });
            worker.join();
        };
        const std::stop_callback on_loss(h.lost(), wait_for_a_worker);
        const std::stop_callback on_risk(h.at_risk(1s), wait_for_a_worker);
        try {
            on.servers().expire(c.session_id());
        } catch (const error&) {  // no server leads at the moment
        }
        t.pause(20);
    });
}

}  // namespace

void add_callback_workers(stage& s) {
    for (std::size_t i = 0; i < 3; ++i) {
        add_handlers(s, i);
        add_coroutines(s, i);
    }
    add_clients(s);
    add_slow_stop_callbacks(s);
}

}  // namespace latchkey::test
