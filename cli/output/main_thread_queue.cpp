#include "output/main_thread_queue.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace latchkey::cli {

main_thread_queue::main_thread_queue() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
}

main_thread_queue::~main_thread_queue() {
    ::close(fd_);
}

void main_thread_queue::post(task t) {
    const std::lock_guard guard(mutex_);
    tasks_.push_back(std::move(t));
    ::eventfd_write(fd_, 1);
}

void main_thread_queue::run() {
    std::deque<task> taken;
    {
        const std::lock_guard guard(mutex_);
        taken.swap(tasks_);
        eventfd_t count = 0;
        ::eventfd_read(fd_, &count);
    }
    for (auto& t : taken) {
        t();
    }
}

}  // namespace latchkey::cli
