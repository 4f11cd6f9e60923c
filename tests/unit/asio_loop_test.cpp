#include "loop/asio_loop.hpp"

#include "eventually.hpp"
#include "forked_child.hpp"
#include "loop/fork_guard.hpp"
#include "on_loop.hpp"
#include "refused_system_calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <ios>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using test::on;

/// What the epoll sets of this process wait for, by descriptor.
std::map<int, unsigned> awaited() {
    std::map<int, unsigned> all;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
        std::ifstream info(one.path());
        for (std::string line; std::getline(info, line);) {
            std::istringstream fields(line);
            std::string name;
            int descriptor = -1;
            unsigned events = 0;
            if (fields >> name >> descriptor && name == "tfd:" &&
                fields >> name >> std::hex >> events) {
                all[descriptor] |= events;
            }
        }
    }
    return all;
}

class AsioDescriptor : public ::testing::Test {
protected:
    using direction = descriptor_watch::direction;

    AsioDescriptor() {
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
        other_ = ::dup(ends_[0]);
        on(l_, [this] { watch_ = l_.watch(ends_[0]); });
    }

    ~AsioDescriptor() override {
        on(l_, [this] { watch_.reset(); });
        ::close(ends_[1]);
        ::close(other_);
    }

    std::future<void> ready(direction d) {
        auto told = std::make_shared<std::promise<void>>();
        on(l_, [&] { watch_->await(d, [told] { told->set_value(); }); });
        return told->get_future();
    }

    asio_loop l_;
    std::array<int, 2> ends_{};
    int other_ = -1;  ///< of the same socket, as a forked child has one
    std::unique_ptr<descriptor_watch> watch_;
};

TEST_F(AsioDescriptor, WaitsForBothDirectionsEachTimeItIsAsked) {
    for (int i = 0; i < 3; ++i) {
        auto readable = ready(direction::read);
        ready(direction::write).get();
        EXPECT_EQ(readable.wait_for(milliseconds(0)), std::future_status::timeout);
        EXPECT_EQ(::send(ends_[1], "a", 1, 0), 1);
        readable.get();
        char got = 0;
        EXPECT_EQ(::recv(ends_[0], &got, 1, 0), 1);
    }
}

TEST_F(AsioDescriptor, IsNotWokenForWritingThatNobodyAwaits) {
    const auto readable = ready(direction::read);
    ready(direction::write).get();
    EXPECT_NE(awaited()[ends_[0]] & EPOLLIN, 0U);
    for (const auto& [descriptor, events] : awaited()) {
        EXPECT_EQ(events & EPOLLOUT, 0U) << descriptor;
    }
}

TEST_F(AsioDescriptor, EndsItsWaitingAlthoughAnotherProcessHasTheSocket) {
    const auto readable = ready(direction::read);
    on(l_, [this] { watch_.reset(); });
    EXPECT_EQ(awaited().count(ends_[0]), 0U);
}

TEST(AsioLoop, ClosesADescriptorThatItCannotWatch) {
    asio_loop l;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const auto failure = on(l, [&] {
        EXPECT_TRUE(test::refuse_system_calls({SYS_epoll_ctl}, ENOSPC)) << "on this thread";
        try {
            static_cast<void>(l.watch(ends[0]));
        } catch (const std::system_error& e) {
            return e.code();
        }
        return std::error_code();
    });
    EXPECT_EQ(failure, std::errc::no_space_on_device);
    EXPECT_EQ(::fcntl(ends[0], F_GETFD), -1) << "it is open";
    ::close(ends[1]);
}

TEST(AsioLoop, LeavesNothingOpenIfThereAreTooFewDescriptors) {
    const auto open = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    std::thread([&] {
        EXPECT_TRUE(test::refuse_system_calls({SYS_epoll_create1}, EMFILE));
        const auto before = open();
        EXPECT_THROW(asio_loop(), std::system_error);
        EXPECT_EQ(open(), before);
    }).join();
}

TEST(AsioLoop, RunsWhatIsToComeNextBehindThePostedTasksThatWait) {
    asio_loop l;
    std::string order;
    std::promise<void> done;
    on(l, [&] {  // so that the two tasks wait together
        l.post([&] {
            l.post([&] { order += 'd'; });
            l.post_next([&] {
                order += 'c';
                l.post_next([&] { order += 'e'; });  // it is no posted task itself
                l.post([&] { done.set_value(); });
            });
            order += 'a';
        });
        l.post([&] { order += 'b'; });
    });
    done.get_future().get();
    EXPECT_EQ(order, "abcde");
}

TEST(AsioLoop, BlocksSignalsAndNamesItsThread) {
    asio_loop l;
    on(l, [] {
        sigset_t mask;
        ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
        for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGPIPE, SIGCHLD}) {
            EXPECT_EQ(::sigismember(&mask, signal), 1) << signal;
        }
        std::string name(16, '\0');
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
        EXPECT_STREQ(name.c_str(), "latchkey");
    });
}

TEST(AsioLoop, TakesTimersThatNeverComeDue) {
    asio_loop l;
    std::promise<void> done;
    on(l, [&] {
        l.start_timer(loop::clock::time_point::max(), [] {});
        l.start_timer(l.now() + milliseconds(5), [&] { done.set_value(); });
    });
    EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(AsioLoop, LetsTimersInBetweenTasksThatPostForEver) {
    asio_loop l;
    std::atomic<bool> stop{false};
    std::promise<void> timer_ran;
    std::function<void()> again = [&] {
        if (!stop) {
            l.post(again);
        }
    };
    l.post(again);
    on(l, [&] { l.start_timer(l.now() + milliseconds(5), [&] { timer_ran.set_value(); }); });
    EXPECT_EQ(timer_ran.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    stop = true;
    on(l, [] {});
}

TEST(AsioLoop, DropsWhatHasNotRunWhenDestroyed) {
    auto token = std::make_shared<int>(0);
    {
        asio_loop l;
        std::promise<void> go;
        auto waiting = go.get_future().share();
        l.post([waiting] { waiting.wait(); });
        for (int i = 0; i < 10; ++i) {
            l.post([token, &l] { l.post([token] {}); });
        }
        on(*std::make_unique<asio_loop>(), [] {});
        go.set_value();
    }
    EXPECT_EQ(token.use_count(), 1);
}

/// Owns a timer, so its destruction needs the loop.
struct timer_owner {
    explicit timer_owner(loop& l) : t(l) {}

    timer t;
};

TEST(AsioLoop, IsStillThereForWhatItsDroppedClosuresOwn) {
    auto l = std::make_unique<asio_loop>();
    on(*l, [&] {
        auto owner = std::make_shared<timer_owner>(*l);
        owner->t.start(std::chrono::hours(1), [] {});
        l->start_timer(l->now() + std::chrono::hours(2), [owner] {});
    });
    l.reset();
}

TEST(AsioLoop, MayBeDestroyedByOneOfItsOwnTasks) {
    const auto token = std::make_shared<int>(0);
    auto* l = new asio_loop;
    l->post([l, token] {
        l->post([token] { FAIL() << "ran after the end"; });
        delete l;
    });
    EXPECT_TRUE(test::eventually([&] { return token.use_count() == 1; }));
}

TEST(AsioLoop, IsInertInAForkedChild) {
    asio_loop l;
    on(l, [] {});
    const auto before = fork_generation();
    EXPECT_TRUE(test::holds_in_a_forked_child([&] {
        l.post([] {});
        std::destroy_at(&l);
        return fork_generation() != before;
    }));
    EXPECT_EQ(fork_generation(), before);
    EXPECT_EQ(on(l, [] { return 7; }), 7) << "the parent's loop goes on";
}

}  // namespace
}  // namespace latchkey
