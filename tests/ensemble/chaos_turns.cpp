#include "chaos_turns.hpp"

#include <latchkey/boottime_clock.hpp>

#include "eventually.hpp"
#include "hold/hold_state.hpp"
#include "in_time.hpp"

#include <map>
#include <optional>
#include <thread>
#include <utility>

namespace latchkey::test {

using history::nanoseconds;
using history::observation;

nanoseconds boottime_now() {
    return boottime_clock::now().time_since_epoch();
}

turns::turns(worker_tools& tools, std::uint64_t seed)
    : tools_(tools),
      thread_(tools.threads++),
      random_(seed),
      register_(tools.order.register_socket, tools.order.worker) {}

void turns::take_until(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        take_one(stop);
        work_for(std::chrono::microseconds(order().brisk ? 0 : below(3000)));
    }
}

void turns::work_a_little() {
    work_for(std::chrono::microseconds(below(order().brisk ? 1500 : 8000)));
}

std::size_t turns::some_steps() {
    return order().brisk ? 1 : below(4) == 0 ? 60 : 1 + below(4);
}

bool turns::excuses(const error& e, const history::wish& /*asked*/) const {
    return ended_by_its_limit(e.code());
}

std::int64_t turns::invoke(const history::wish& asked) {
    const std::int64_t attempt = ++tools_.attempts;
    log().invoked(attempt, boottime_now(), asked);
    return attempt;
}

acquire_options turns::options(std::int64_t attempt, const std::stop_token& stop) {
    return {.stop = stop, .reserved = [this, attempt](const queue_position& p) {
                log().reserved(attempt, p.path);
            }};
}

void turns::attempt(const history::wish& asked,
                    const std::function<hold(std::int64_t)>& ask,
                    const std::function<void(hold&, std::int64_t)>& use) {
    const std::int64_t number = invoke(asked);
    hold h;
    try {
        h = ask(number);
    } catch (const error& e) {
        tell_failure(number, asked, e);
        return;
    }
    if (is_empty(h)) {
        log().ended(number, boottime_now());
        return;
    }
    tell_granted(number, h);
    use(h, number);
    h.release();
}

void turns::tell_granted(std::int64_t attempt, const hold& h) {
    const nanoseconds at = boottime_now();
    const auto session = zk().session_id();
    observation first = look(h);
    first.at = at;
    log().granted(attempt, number_of(h.token()), h.paths(), session, first);
}

void turns::tell_ended(std::int64_t attempt, const hold& h) {
    log().saw(attempt, look(h));
    log().ended(attempt, boottime_now());
}

void turns::tell_failure(std::int64_t attempt, const history::wish& asked, const error& e) {
    if (excuses(e, asked)) {
        log().ended(attempt, boottime_now());
    } else {
        log().failed(attempt, boottime_now(), e.what());
    }
}

void turns::work_under(std::int64_t token,
                       const std::function<observation()>& look_at_it,
                       const std::vector<std::string>& on,
                       std::int64_t attempt) {
    std::map<std::string, std::int64_t> values;
    for (const std::string& lock : on) {
        const auto value = register_.claim(lock, token);
        if (!value) {
            return;
        }
        values[lock] = *value;
    }
    for (std::size_t left = some_steps(); left > 0; --left) {
        const observation o = look_at_it();
        log().saw(attempt, o);
        if (!o.valid) {
            return;
        }
        work_a_little();
        auto& [lock, value] = *std::next(values.begin(), static_cast<long>(below(values.size())));
        history::effect e{.at = boottime_now()};
        e.applied = register_.write(lock, token, value + 1);
        log().wrote(attempt, e);
        if (!e.applied) {
            return;
        }
        ++value;
    }
}

void turns::linger(const hold& h, const std::string& where, std::int64_t attempt) {
    show(where);
    for (std::size_t left = some_steps(); left > 0; --left) {
        const observation o = look(h);
        log().saw(attempt, o);
        if (!o.valid) {
            return;
        }
        work_a_little();
    }
}

}  // namespace latchkey::test
