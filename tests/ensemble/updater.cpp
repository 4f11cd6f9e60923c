// A process that updates a number under a lock, and stops itself at the worst moment.
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "fenced_register.hpp"
#include "in_time.hpp"
#include "lost_updates.hpp"

#include <csignal>
#include <ctime>
#include <fstream>
#include <optional>
#include <random>

#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// The number, as a holder reads and writes it: outside ZooKeeper, where it is the register that
/// says whether the token helps, or in a znode.
class number {
public:
    number(const updater_order& o, const client& zk)
        : order_(o), zk_(zk), register_(o.register_socket, o.worker) {}

    /// Empty: the holder is refused, or cannot read now.
    std::optional<std::int64_t> read(const hold& h) {
        if (order_.by != guard::transaction) {
            return register_.claim(order_.path, h.token().zxid);
        }
        std::error_code failed;
        const auto now = zk_.get(order_.znode(), read_from::quorum, failed);
        version_ = now ? now->stat.version : 0;
        return now ? std::optional(std::stoll(now->data)) : std::nullopt;
    }

    /// What was read, increased.
    const char* write(hold& h, std::int64_t value) {
        std::error_code failed;
        if (order_.by != guard::transaction) {
            return register_.write(order_.path, h.token().zxid, value) ? "acknowledged" : "refused";
        }
        h.transact({operation::set(order_.znode(), std::to_string(value), version_)}, failed);
        if (failed == error_kind::indeterminate) {
            return "unknown";
        }
        if (failed && failed != errc::hold_lost && failed != errc::version_mismatch) {
            throw error(failed, "an update");
        }
        return failed ? "refused" : "acknowledged";
    }

private:
    const updater_order& order_;
    const client& zk_;
    register_connection register_;
    std::int32_t version_ = 0;
};

}  // namespace

void run_updater(const updater_order& o) {
    const pid_t parent = ::getppid();
    sigset_t end;
    ::sigemptyset(&end);
    ::sigaddset(&end, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &end, nullptr);
    client zk = client::connect(o.servers, {.session_timeout = o.session_timeout});
    mutex lock(zk, o.path);
    number shared(o, zk);
    std::ofstream log(o.log);
    std::mt19937_64 random(o.seed);
    const timespec at_once{};
    for (std::size_t stops = 0;
         ::sigtimedwait(&end, nullptr, &at_once) != SIGTERM && ::getppid() == parent;) {
        std::error_code ec;
        hold h = lock.try_acquire_for(1s, {}, ec);
        if (ec && !ended_by_its_limit(ec)) {
            throw error(ec, o.path);
        }
        const auto value = h ? shared.read(h) : std::nullopt;
        if (!value || !h.valid()) {
            continue;
        }
        // Here nothing helps that this process could look at.
        if (stops < o.stops && random() % static_cast<unsigned>(o.one_in) == 0) {
            ++stops;
            ::raise(SIGSTOP);
        }
        log << shared.write(h, *value + 1) << std::endl;
    }
}

}  // namespace latchkey::test
