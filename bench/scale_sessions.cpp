// Very many clients in one process, each with a session of its own, on one real server. Prints what
// the server does for them, counted by itself, and what a lock takes beside them.
#include "scale_sessions.hpp"

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "real_ensemble.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

// Long enough for holds to survive a restart of the server.
constexpr auto timeout = 30s;
constexpr auto period = 20s;

double seconds(steady::duration d) {
    return std::chrono::duration<double>(d).count();
}

/// What the server says of itself, and the kernel of it.
class server {
public:
    struct figures {
        std::int64_t received = 0;
        std::int64_t writes = 0;  ///< the low half of the zxid
        double cpu = 0;
    };

    [[nodiscard]] const std::string& address() const { return servers_.connect_string(); }

    void restart() { servers_.restart(1); }

    [[nodiscard]] figures now() const {
        const std::string answer = servers_.srvr(1);
        return {.received = number_after(answer, "Received: ", 10),
                .writes = number_after(answer, "Zxid: 0x", 16) & 0xffffffff,
                .cpu = cpu()};
    }

private:
    static std::int64_t number_after(std::string_view text, std::string_view word, int base) {
        std::int64_t number = 0;
        const std::size_t at = text.find(word);
        if (at != std::string_view::npos) {
            text.remove_prefix(at + word.size());
            std::from_chars(text.data(), text.data() + text.size(), number, base);
        }
        return number;
    }

    /// The file with the process's id is beside the directory of the data.
    [[nodiscard]] double cpu() const {
        const std::string settings = servers_.four_letter_word(1, "conf");
        const std::string_view word = "dataDir=";
        const std::size_t at = settings.find(word) + word.size();
        const std::filesystem::path data = settings.substr(at, settings.find('\n', at) - at);
        std::string pid;
        std::ifstream(data.parent_path().parent_path() / "pid") >> pid;
        std::ifstream stat("/proc/" + pid + "/stat");
        std::string field;
        double ticks = 0;
        for (int i = 1; stat >> field && i <= 15; ++i) {
            ticks += i >= 14 ? std::stod(field) : 0;
        }
        return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }

    test::real_ensemble servers_{{.servers = 1, .tick = 1s, .settings = {}, .java = {"-Xmx4g"}}};
};

double own_cpu() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return of(used.ru_utime) + of(used.ru_stime);
}

/// For a while: the server's counts and CPU time, and a lock beside it all.
void measure(const char* what, const server& s, latchkey::mutex& beside) {
    const server::figures before = s.now();
    const double cpu = own_cpu();
    const auto start = steady::now();
    std::vector<double> took;
    std::int64_t own_writes = 0;
    while (steady::now() < start + period) {
        const auto begin = steady::now();
        beside.acquire().release();
        took.push_back(seconds(steady::now() - begin) * 1e3);
        own_writes += 2;
        std::this_thread::sleep_for(100ms);
    }
    const double all = seconds(steady::now() - start);
    const server::figures after = s.now();
    std::sort(took.begin(), took.end());
    std::printf(
        "%-34s %7.1f writes/s %8.1f packets/s; CPU %5.1f %% server, %5.1f %% clients; a lock "
        "%.2f ms, 99 %% %.2f ms\n",
        what,
        static_cast<double>(after.writes - before.writes - own_writes) / all,
        static_cast<double>(after.received - before.received) / all,
        100 * (after.cpu - before.cpu) / all,
        100 * (own_cpu() - cpu) / all,
        took[took.size() / 2],
        took[took.size() * 99 / 100]);
    std::fflush(stdout);
}

}  // namespace

void measure_sessions(std::size_t size) {
    server s;
    client third = client::connect(s.address(), {.session_timeout = timeout});
    latchkey::mutex beside(third, "/scale/beside");
    measure("no other client", s, beside);

    const auto start = steady::now();
    std::vector<client> clients;
    for (std::size_t i = 0; i < size; ++i) {
        clients.push_back(client::connect(s.address(), {.session_timeout = timeout}));
    }
    const auto all_connected = [&] {
        for (client& c : clients) {
            if (!c.wait_connected(2min)) {
                throw std::runtime_error(c.last_error());
            }
        }
    };
    all_connected();
    std::printf("%zu clients have connected in %.2f s\n", size, seconds(steady::now() - start));
    std::this_thread::sleep_for(timeout / 8);  // the write that each connection begins with
    measure("idle", s, beside);

    std::vector<std::unique_ptr<latchkey::mutex>> locks;
    std::vector<hold> holds;
    for (std::size_t i = 0; i < size; ++i) {
        locks.push_back(
            std::make_unique<latchkey::mutex>(clients[i], "/scale/" + std::to_string(i)));
        holds.push_back(locks.back()->acquire());
    }
    std::this_thread::sleep_for(timeout / 4);
    std::printf("heartbeats by the formula: 7/T for each, %.1f writes/s\n",
                static_cast<double>(size) * 7 / seconds(timeout));
    measure("each holds a lock", s, beside);

    const auto again = steady::now();
    s.restart();
    const double without = seconds(steady::now() - again);
    std::this_thread::sleep_for(1s);
    all_connected();
    const auto valid =
        std::count_if(holds.begin(), holds.end(), [](const hold& h) { return h.valid(); });
    std::printf(
        "no server for %.2f s; all are connected again %.2f s after it went, with the "
        "second that was waited; %td of %zu holds are valid\n",
        without,
        seconds(steady::now() - again),
        valid,
        size);
    measure("after that", s, beside);
}

}  // namespace latchkey::bench
