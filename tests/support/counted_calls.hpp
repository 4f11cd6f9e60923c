#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <unistd.h>

// A program's own operator new, and its own doors to the system, for one source of it to include:
// they count what the threads do that asked for it. Futexes cannot be counted here: the C library
// calls them by itself. So the waits and signals of conditions are counted instead.

namespace {

enum class counted : std::uint8_t { allocation, wait, receive, send, option, timer, signal, sleep };

std::array<std::atomic<std::uint64_t>, 8> counts{};
/// What these threads have allocated and not freed, with what the C library adds to each piece.
std::atomic<std::int64_t> bytes_in_use{0};
thread_local bool is_counted = false;

void count(counted what) {
    if (is_counted) {
        counts[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed);
    }
}

/// The function that this program's own one hides.
template <class Function>
Function* hidden(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void note_in_use(void* p, std::int64_t sign) noexcept {
    if (is_counted && p != nullptr) {
        const auto size = static_cast<std::int64_t>(::malloc_usable_size(p) + sizeof(std::size_t));
        bytes_in_use.fetch_add(sign * size, std::memory_order_relaxed);
    }
}

void* allocated(std::size_t size) {
    count(counted::allocation);
    void* const p = std::malloc(size == 0 ? 1 : size);
    note_in_use(p, 1);
    return p;
}

void freed(void* p) noexcept {
    note_in_use(p, -1);
    std::free(p);
}

}  // namespace

void* operator new(std::size_t size) {
    if (void* const p = allocated(size)) {
        return p;
    }
    throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    return allocated(size);
}

void operator delete(void* p) noexcept {
    freed(p);
}

void operator delete(void* p, std::size_t /*size*/) noexcept {
    freed(p);
}

extern "C" {

int epoll_wait(int fd, epoll_event* events, int size, int timeout) {
    static const auto real = hidden<decltype(epoll_wait)>("epoll_wait");
    count(counted::wait);
    return real(fd, events, size, timeout);
}

ssize_t recv(int fd, void* buffer, std::size_t size, int flags) {
    static const auto real = hidden<decltype(recv)>("recv");
    count(counted::receive);
    return real(fd, buffer, size, flags);
}

ssize_t send(int fd, const void* data, std::size_t size, int flags) {
    static const auto real = hidden<decltype(send)>("send");
    count(counted::send);
    return real(fd, data, size, flags);
}

int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
    static const auto real = hidden<decltype(setsockopt)>("setsockopt");
    count(counted::option);
    return real(fd, level, name, value, size);
}

int timerfd_settime(int fd, int flags, const itimerspec* at, itimerspec* old) noexcept {
    static const auto real = hidden<decltype(timerfd_settime)>("timerfd_settime");
    count(counted::timer);
    return real(fd, flags, at, old);
}

int epoll_ctl(int set, int operation, int fd, epoll_event* event) noexcept {
    static const auto real = hidden<decltype(epoll_ctl)>("epoll_ctl");
    count(counted::signal);
    return real(set, operation, fd, event);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    static const auto real = hidden<decltype(pthread_cond_wait)>("pthread_cond_wait");
    count(counted::sleep);
    return real(condition, mutex);
}
}
