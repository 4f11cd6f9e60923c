#include "output/exit_status.hpp"

#include <cerrno>

#include <sys/wait.h>

namespace latchkey::cli::exit_status {

int of_command(int wait_status) noexcept {
    return WIFSIGNALED(wait_status) ? of_signal(WTERMSIG(wait_status)) : WEXITSTATUS(wait_status);
}

int of_failed_start(int error_number) noexcept {
    switch (error_number) {
        case ENOENT:
            return not_found;
        case EAGAIN:
            return system_failed;  // fork()
        default:
            return cannot_execute;
    }
}

int of_error(const std::error_code& ec) noexcept {
    if (ec.category() != error_category()) {
        return system_failed;
    }
    switch (static_cast<errc>(ec.value())) {
        case errc::invalid_argument:
            return usage;
        case errc::unreachable:
            return unreachable;
        case errc::not_acquired:
            return not_acquired;
        case errc::not_authorized:
        case errc::authentication_failed:
            return not_authorized;
        case errc::hold_lost:
        case errc::session_lost:
            return lock_lost;
        default:
            return failed;
    }
}
}  // namespace latchkey::cli::exit_status

namespace latchkey::cli {

bool is_transient(const error& e) noexcept {
    constexpr int throttled = -127;
    return e.code() == errc::unreachable || e.code() == errc::not_acquired ||
           e.server_code() == throttled;
}

}  // namespace latchkey::cli
