// A process that updates a number under a lock, and stops itself at the worst moment.
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "fenced_register.hpp"
#include "in_time.hpp"
#include "lost_updates.hpp"
#include "session_probe.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view updater_word = "updater";

enum class answer : std::uint8_t { acknowledged, refused, unknown };

const char* to_string(answer a) {
    switch (a) {
        case answer::acknowledged:
            return "acknowledged";
        case answer::refused:
            return "refused";
        case answer::unknown:
            break;
    }
    return "unknown";
}

/// The number, as a holder reads and writes it.
class number {
public:
    number() = default;
    number(const number&) = delete;
    number& operator=(const number&) = delete;
    virtual ~number() = default;

    /// Empty: the holder is refused, or cannot read now.
    virtual std::optional<std::int64_t> read(const hold& h) = 0;
    /// What was read, increased.
    virtual answer write(hold& h, std::int64_t value) = 0;
};

/// Outside ZooKeeper. Whether the token helps is the register's to say.
class number_in_register final : public number {
public:
    explicit number_in_register(const updater_order& o)
        : lock_(o.common.path), register_(o.register_socket, o.worker) {}

    std::optional<std::int64_t> read(const hold& h) override {
        return register_.claim(lock_, h.token().zxid);
    }

    answer write(hold& h, std::int64_t value) override {
        return register_.write(lock_, h.token().zxid, value) ? answer::acknowledged
                                                             : answer::refused;
    }

private:
    std::string lock_;
    register_connection register_;
};

class number_in_znode final : public number {
public:
    explicit number_in_znode(const updater_order& o)
        : path_(o.common.path + "-value"), reader_(o.common.servers) {}

    std::optional<std::int64_t> read(const hold&) override {
        // A write is behind all others; a `sync` that a leader answers may not be.
        if (!reader_.call(request::multi({request::check(path_)})).ok()) {
            return std::nullopt;
        }
        const reply now = reader_.call(request::get(path_));
        if (!now.ok()) {
            return std::nullopt;
        }
        version_ = now.stat.version;
        return std::stoll(now.data);
    }

    answer write(hold& h, std::int64_t value) override {
        std::error_code ec;
        h.transact({operation::set(path_, std::to_string(value), version_)}, ec);
        if (!ec) {
            return answer::acknowledged;
        }
        if (ec == error_kind::indeterminate) {
            return answer::unknown;
        }
        if (ec == errc::hold_lost || ec == errc::version_mismatch) {
            return answer::refused;
        }
        throw error(ec, "an update");
    }

private:
    std::string path_;
    session_probe reader_;
    std::int32_t version_ = 0;
};

std::unique_ptr<number> make_number(const updater_order& o) {
    if (o.common.by == guard::transaction) {
        return std::make_unique<number_in_znode>(o);
    }
    return std::make_unique<number_in_register>(o);
}

bool told_to_end(pid_t parent) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    const timespec at_once{};
    return ::sigtimedwait(&set, nullptr, &at_once) == SIGTERM || ::getppid() != parent;
}

void run(const updater_order& o) {
    const pid_t parent = ::getppid();
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    client zk = client::connect(o.common.servers, {.session_timeout = o.common.session_timeout});
    mutex lock(zk, o.common.path);
    const auto shared = make_number(o);
    std::ofstream log(o.log);
    std::mt19937_64 random(o.common.seed);
    for (std::size_t stops = 0; !told_to_end(parent);) {
        std::error_code ec;
        hold h = lock.try_acquire_for(1s, {}, ec);
        if (ec && !ended_by_its_limit(ec)) {
            throw error(ec, o.common.path);
        }
        const auto value = h ? shared->read(h) : std::nullopt;
        if (!value || !h.valid()) {
            continue;
        }
        // Here nothing helps that this process could look at.
        if (stops < o.common.stops && random() % static_cast<unsigned>(o.common.one_in) == 0) {
            ++stops;
            ::raise(SIGSTOP);
        }
        log << to_string(shared->write(h, *value + 1)) << std::endl;
    }
}

}  // namespace

std::vector<std::string> updater_arguments(const updater_order& o) {
    return {std::string(updater_word),
            std::to_string(static_cast<int>(o.common.by)),
            o.common.servers,
            o.common.path,
            std::to_string(o.common.session_timeout.count()),
            std::to_string(o.common.seed),
            std::to_string(o.common.stops),
            std::to_string(o.common.one_in),
            o.register_socket,
            o.log,
            std::to_string(o.worker)};
}

bool is_updater(int argc, char** argv) {
    return argc == 12 && argv[1] == updater_word;
}

int run_updater(char** argv) {
    try {
        updater_order o;
        o.common.by = static_cast<guard>(std::stoi(argv[2]));
        o.common.servers = argv[3];
        o.common.path = argv[4];
        o.common.session_timeout = std::chrono::milliseconds(std::stol(argv[5]));
        o.common.seed = std::stoull(argv[6]);
        o.common.stops = std::stoull(argv[7]);
        o.common.one_in = std::stoi(argv[8]);
        o.register_socket = argv[9];
        o.log = argv[10];
        o.worker = std::stoi(argv[11]);
        run(o);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "an updater: %s\n", e.what());
        return 1;
    }
    return 0;
}

}  // namespace latchkey::test
