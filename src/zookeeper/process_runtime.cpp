#include "datagram/udp_socket.hpp"
#include "guardian/guardian_process.hpp"
#include "loop/asio_loop.hpp"
#include "loop/callback_thread.hpp"
#include "loop/fork_guard.hpp"
#include "session/runtime.hpp"
#include "tls/tls_identity.hpp"
#include "zookeeper/zookeeper_session.hpp"

#include <cstdint>
#include <mutex>
#include <utility>

#include <pthread.h>

namespace latchkey::inline v0 {
namespace {

/// Never destroyed: clients may be created and destroyed while statics are destroyed.
struct shared_loop {
    std::mutex mutex;
    std::weak_ptr<asio_loop> loop;
    std::uint64_t born = 0;
};

shared_loop& shared() {
    static auto* const instance = new shared_loop;
    return *instance;
}

// A fork while another thread is in here must not leave the child with a locked mutex that no
// thread unlocks.
extern "C" void lock_for_fork() {
    shared().mutex.lock();
}

extern "C" void unlock_after_fork() {
    shared().mutex.unlock();
}

std::shared_ptr<asio_loop> process_loop() {
    static const int registered =
        ::pthread_atfork(&lock_for_fork, &unlock_after_fork, &unlock_after_fork);
    static_cast<void>(registered);
    auto& state = shared();
    const std::lock_guard lock(state.mutex);
    auto loop = state.loop.lock();
    if (loop == nullptr || state.born != fork_generation()) {
        loop = std::make_shared<asio_loop>();
        state.loop = loop;
        state.born = fork_generation();
    }
    return loop;
}

runtime::executor new_executor(const char* name) {
    auto thread = std::make_shared<callback_thread>(name);
    return
        [thread = std::move(thread)](callback_thread::task task) { thread->run(std::move(task)); };
}

}  // namespace

runtime process_runtime(const std::optional<tls_options>& tls) {
    auto loop = process_loop();
    auto identity = tls ? std::make_shared<tls_identity>(loop, *tls) : nullptr;
    return {
        .loop = loop,
        .sessions = std::make_shared<zookeeper_sessions>(loop, &resolve_name, identity),
        .callbacks = &new_executor,
        .datagrams = [loop](const std::vector<datagram_address>& at) { return open_udp(loop, at); },
        .guards = &guard_by_process};
}

}  // namespace latchkey::inline v0
