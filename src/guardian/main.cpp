// latchkey-guardian: see client_options::guardian. A client's process starts it, with a connection
// as standard input, and nobody else.
#include "guardian/guarded_session.hpp"
#include "session/runtime.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

namespace latchkey::inline v0 {
namespace {

/// Nobody's child, and out of the reach of the terminal's signals; SIGTERM is for a service as a
/// whole, whose sessions are to be ended after it.
bool leave_everything() {
    const pid_t child = ::fork();
    if (child != 0) {
        ::_exit(child > 0 ? 0 : 1);
    }
    for (const int ignored : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGPIPE}) {
        ::signal(ignored, SIG_IGN);
    }
    std::ofstream("/proc/self/oom_score_adj") << -500;  // where it may
    return ::setsid() >= 0 && ::chdir("/") == 0;
}

/// The sessions that were there when the last of the processes had ended.
std::vector<guarded_session> sessions_left() {
    std::map<std::uint64_t, guarded_session> present;
    bool may_act = true;
    std::vector<char> buffer(longest_guardian_message);
    while (true) {
        const auto size = ::recv(STDIN_FILENO, buffer.data(), buffer.size(), 0);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0) {
            break;
        }
        const std::string_view message(buffer.data(), static_cast<std::size_t>(size));
        if (message == guardian_waits || message == guardian_may_act) {
            may_act = message == guardian_may_act;
        } else if (auto s = unpacked(message)) {
            if (s->claim.id == 0) {
                present.erase(s->client);
            } else {
                present.insert_or_assign(s->client, *std::move(s));
            }
        }
    }
    std::vector<guarded_session> left;
    for (auto& [client, s] : present) {
        if (may_act) {
            left.push_back(std::move(s));
        }
    }
    return left;
}

/// Continues a session and closes it, until a server says that there is none.
class session_end {
public:
    session_end(guarded_session of, std::function<void()> ended)
        : of_(std::move(of)), ended_(std::move(ended)), env_(process_runtime(of_.tls)) {
        env_.loop->post([this] { begin(); });
    }

private:
    void begin() {
        session_ = env_.sessions->open(
            {.servers = of_.servers, .timeout = of_.claim.timeout, .continued = of_.claim},
            [this](const session_event& e) { on_event(e); });
    }

    void on_event(const session_event& e) {
        if (e.what == session_event::kind::connected) {
            session_->close([this] { env_.loop->post([this] { begin(); }); });
        } else if (e.what == session_event::kind::expired) {
            ended_();
        }
    }

    const guarded_session of_;
    const std::function<void()> ended_;
    const runtime env_;
    std::unique_ptr<session> session_;
};

/// Until then the servers have ended them anyway.
void end_all(std::vector<guarded_session> all) {
    std::mutex guard;
    std::condition_variable changed;
    std::size_t open = all.size();
    std::chrono::milliseconds longest{};
    std::vector<std::unique_ptr<session_end>> ends;
    for (guarded_session& s : all) {
        longest = std::max(longest, s.claim.timeout);
        try {
            ends.push_back(std::make_unique<session_end>(std::move(s), [&] {
                const std::lock_guard lock(guard);
                --open;
                changed.notify_all();
            }));
        } catch (const std::exception&) {
            const std::lock_guard lock(guard);  // the files for TLS are gone
            --open;
        }
    }
    std::unique_lock lock(guard);
    changed.wait_for(lock, longest, [&] { return open == 0; });
    ::_exit(0);  // with threads that may use all this
}

}  // namespace
}  // namespace latchkey::inline v0

int main() {
    if (!latchkey::leave_everything()) {
        return 1;
    }
    latchkey::end_all(latchkey::sessions_left());
}
