#include "contest.hpp"

#include "eventually.hpp"
#include "hold/hold_state.hpp"
#include "real_ensemble.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey::test {

using namespace std::chrono_literals;

// ---- competitor ----

competitor::competitor(const std::string& servers,
                       const std::string& path,
                       std::chrono::milliseconds session_timeout)
    : client_(client::connect(servers, {.session_timeout = session_timeout})),
      lock_(client_, path),
      listening_(client_.on_change([this](connection_state s) {
          const std::lock_guard lock(guard_);
          states_.push_back(s);
      })) {}

competitor::~competitor() {
    client_.close();  // nothing is granted to what is being destroyed
}

void competitor::join(std::function<void()> granted) {
    {
        const std::lock_guard lock(guard_);
        granted_ = std::move(granted);
        places_ = 0;
    }
    lock_.async_acquire({.reserved =
                             [this](const queue_position& p) {
                                 const std::lock_guard lock(guard_);
                                 ++places_;
                                 znode_ = p.path;
                             }},
                        [this](std::error_code failed, hold h) {
                            if (failed) {
                                return;  // the client was closed
                            }
                            const time_point at = boottime_clock::now();
                            if (const auto tell = guarded(granted_)) {
                                tell();
                            }
                            // After that: who sees the hold sees what it was told as well.
                            const std::lock_guard lock(guard_);
                            granted_at_ = at;
                            hold_ = std::move(h);
                        });
    if (!eventually([this] { return places() > 0; })) {
        throw std::runtime_error("no place in the queue: " + client_.last_error());
    }
}

bool competitor::has() const {
    const std::lock_guard lock(guard_);
    return !is_empty(hold_);
}

void competitor::release() {
    hold released;
    const std::lock_guard lock(guard_);
    released = std::move(hold_);
}

std::error_code competitor::write(const std::string& znode, const std::string& text) {
    std::error_code failed;
    // Not under the guard: it blocks, and others want to know whether the hold is valid meanwhile.
    hold_.transact({operation::set(znode, text)}, failed);
    return failed;
}

bool competitor::heard(connection_state s) const {
    const std::lock_guard lock(guard_);
    return std::find(states_.begin(), states_.end(), s) != states_.end();
}

// ---- contest ----

contest::contest(const std::string& holders_servers,
                 const std::string& other_servers,
                 std::chrono::milliseconds session_timeout)
    : path_(real_ensemble::fresh_path() + "/lock"),
      effects_(path_ + "-effects"),
      // Its requests outlast an election on a slow machine.
      operator_(client::connect(other_servers, {.session_timeout = 60s})),
      first_(holders_servers, path_, session_timeout),
      second_(other_servers, path_, session_timeout) {
    first_.join();
    static_cast<void>(operator_.transact({operation::create(effects_, "")}));
    // With a short timeout it may be lost again by now.
    if (!eventually([this] { return first_.has(); })) {
        throw std::runtime_error("the first one is not granted the lock");
    }
    first_token_ = first_.token();
    second_.join([this] { doubled_ = first_.valid(); });
}

std::vector<std::int64_t> contest::sessions_in_queue() {
    std::vector<std::int64_t> sessions;
    catch_up(operator_);
    for (const participant& p : mutex(operator_, path_).participants()) {
        sessions.push_back(p.session_id);
    }
    return sessions;
}

void contest::remove_all(const competitor& one, const competitor& other) {
    static_cast<void>(operator_.transact({operation::remove(one.znode()),
                                          operation::remove(other.znode()),
                                          operation::remove(path_)}));
}

::testing::AssertionResult contest::writes(competitor& c, const std::string& text) {
    std::error_code ec;
    static_cast<void>(eventually(
        [&] {
            ec = write(c, text);
            return !ec || !c.valid();
        },
        60s));
    if (ec) {
        return ::testing::AssertionFailure() << ec.message() << "; " << to_string(c.why_lost());
    }
    const std::string there = effect();
    return there == text ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << there;
}

void contest::expect_kept() {
    EXPECT_TRUE(first_.valid()) << to_string(first_.why_lost());
    EXPECT_FALSE(first_.stopped());
    EXPECT_FALSE(first_.heard(connection_state::lost));
    EXPECT_FALSE(second_.has());
    EXPECT_EQ(sessions_in_queue(), (std::vector{first_.session(), second_.session()}));
    first_.release();
    expect_taken_over();
}

void contest::expect_lost(loss_reason why) {
    EXPECT_TRUE(eventually([&] { return !first_.valid(); }));
    EXPECT_EQ(first_.why_lost(), why);
    EXPECT_TRUE(eventually([&] { return first_.stopped(); }));
    EXPECT_EQ(write(first_, "late"), errc::hold_lost);
}

void contest::expect_granted_to_the_second() {
    EXPECT_TRUE(eventually([&] { return second_.has(); }, 60s));
    EXPECT_LT(first_token_, second_.token());
    EXPECT_TRUE(writes(second_, "by the second"));
}

void contest::expect_taken_over() {
    expect_granted_to_the_second();
    EXPECT_FALSE(doubled());
    EXPECT_FALSE(first_.valid());
}

void contest::expect_taken_over_after_the_deadline() {
    time_point deadline = first_.valid_until();
    EXPECT_LT(deadline, boottime_clock::now() + first_.session_timeout());
    EXPECT_TRUE(eventually([&] {
        deadline = std::max(deadline, first_.valid_until());
        return !first_.valid();
    }));
    expect_lost(loss_reason::deadline_passed);
    // Its znode goes with its session: it is not released.
    expect_taken_over();
    EXPECT_LT(deadline, second_.granted_at());
    report("deadline_to_grant", second_.granted_at() - deadline);
}

std::string addresses(const real_ensemble& servers, int without) {
    std::string list;
    for (int server = 1; server <= servers.size(); ++server) {
        if (server != without) {
            list += (list.empty() ? "" : ",") + servers.address(server);
        }
    }
    return list;
}

void report(const std::string& name, std::chrono::nanoseconds value) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(value);
    ::testing::Test::RecordProperty(name, std::to_string(ms.count()) + " ms");
    std::printf("%s: %lld ms\n", name.c_str(), static_cast<long long>(ms.count()));
}

}  // namespace latchkey::test
