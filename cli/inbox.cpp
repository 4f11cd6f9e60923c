#include "inbox.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace latchkey::cli {

inbox::inbox() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
}

inbox::~inbox() {
    ::close(fd_);
}

void inbox::post(task t) {
    const std::lock_guard guard(mutex_);
    tasks_.push_back(std::move(t));
    ::eventfd_write(fd_, 1);
}

void inbox::run() {
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
