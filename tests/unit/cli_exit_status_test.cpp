#include <latchkey/error.hpp>

#include "output/exit_status.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {

namespace {

using namespace latchkey::cli;

TEST(ExitStatus, IsTheCommandsOwnOrThatOfItsSignalAsShellsHaveIt) {
    for (const auto& [status, expected] : {std::pair(0, 0),
                                           {7 << 8, 7},
                                           {255 << 8, 255},
                                           {SIGKILL, 137},
                                           {SIGSEGV | 0x80, 139}}) {  // with a core dump
        EXPECT_EQ(exit_status::of_command(status), expected) << status;
    }
    EXPECT_EQ(exit_status::of_signal(SIGTERM), 143);
}

TEST(ExitStatus, SaysWhyACommandDidNotStart) {
    for (const auto& [error, expected] :
         {std::pair(ENOENT, 127), {EACCES, 126}, {ENOEXEC, 126}, {E2BIG, 126}, {EAGAIN, 71}}) {
        EXPECT_EQ(exit_status::of_failed_start(error), expected) << error;
    }
}

TEST(ExitStatus, FollowsTheKindOfErrorAndIsNeverZero) {
    for (int code = 1; code <= static_cast<int>(errc::protocol); ++code) {
        EXPECT_GE(exit_status::of_error(static_cast<errc>(code)), 64) << code;
    }
    for (const auto& [error, expected] : {std::pair(errc::invalid_argument, 64),
                                          {errc::sequence_exhausted, 65},
                                          {errc::unreachable, 69},
                                          {errc::hold_lost, 76},
                                          {errc::not_authorized, 77},
                                          {errc::authentication_failed, 77}}) {
        EXPECT_EQ(exit_status::of_error(error), expected) << std::error_code(error).message();
    }
    EXPECT_EQ(exit_status::of_error(std::make_error_code(std::errc::no_child_process)), 71);
}

}  // namespace

}  // namespace latchkey::test
