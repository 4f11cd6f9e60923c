#include <latchkey/error.hpp>

#include "output/exit_status.hpp"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

TEST(ExitStatus, IsTheCommandsOwn) {
    EXPECT_EQ(exit_status::of_command(0), 0);
    EXPECT_EQ(exit_status::of_command(7 << 8), 7);
    EXPECT_EQ(exit_status::of_command(255 << 8), 255);
}

TEST(ExitStatus, ReportsASignalAsShellsDo) {
    EXPECT_EQ(exit_status::of_command(SIGKILL), 137);
    EXPECT_EQ(exit_status::of_command(SIGSEGV | 0x80), 139);  // with a core dump
    EXPECT_EQ(exit_status::of_signal(SIGTERM), 143);
}

TEST(ExitStatus, SaysWhyACommandDidNotStart) {
    EXPECT_EQ(exit_status::of_failed_start(ENOENT), 127);
    EXPECT_EQ(exit_status::of_failed_start(EACCES), 126);
    EXPECT_EQ(exit_status::of_failed_start(ENOEXEC), 126);
    EXPECT_EQ(exit_status::of_failed_start(E2BIG), 126);
    EXPECT_EQ(exit_status::of_failed_start(EAGAIN), 71);
}

TEST(ExitStatus, IsNeverZeroForAnError) {
    for (int code = 1; code <= static_cast<int>(errc::protocol); ++code) {
        EXPECT_GE(exit_status::of_error(static_cast<errc>(code)), 64) << code;
    }
}

TEST(ExitStatus, FollowsTheKindOfError) {
    EXPECT_EQ(exit_status::of_error(errc::invalid_argument), 64);
    EXPECT_EQ(exit_status::of_error(errc::sequence_exhausted), 65);
    EXPECT_EQ(exit_status::of_error(errc::unreachable), 69);
    EXPECT_EQ(exit_status::of_error(errc::hold_lost), 76);
    EXPECT_EQ(exit_status::of_error(errc::not_authorized), 77);
    EXPECT_EQ(exit_status::of_error(errc::authentication_failed), 77);
    EXPECT_EQ(exit_status::of_error(std::make_error_code(std::errc::no_child_process)), 71);
}

}  // namespace

}  // namespace latchkey::cli
