#include "contest.hpp"

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "client/hold_state.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "session/request.hpp"

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
                            if (const auto tell = on_grant()) {
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

std::function<void()> competitor::on_grant() const {
    const std::lock_guard lock(guard_);
    return granted_;
}

int competitor::places() const {
    const std::lock_guard lock(guard_);
    return places_;
}

bool competitor::has() const {
    const std::lock_guard lock(guard_);
    return !is_empty(hold_);
}

bool competitor::valid() const {
    const std::lock_guard lock(guard_);
    return hold_.valid();
}

time_point competitor::valid_until() const {
    const std::lock_guard lock(guard_);
    return hold_.valid_until();
}

loss_reason competitor::why_lost() const {
    const std::lock_guard lock(guard_);
    return hold_.why_lost();
}

bool competitor::stopped() const {
    const std::lock_guard lock(guard_);
    return hold_.lost().stop_requested();
}

fencing_token competitor::token() const {
    const std::lock_guard lock(guard_);
    return hold_.token();
}

std::string competitor::znode() const {
    const std::lock_guard lock(guard_);
    return znode_;
}

time_point competitor::granted_at() const {
    const std::lock_guard lock(guard_);
    return granted_at_;
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

namespace {

/// What an operator does with a client of its own.
class operators_world final : public world {
public:
    explicit operators_world(std::string servers) : servers_(std::move(servers)) {}

    client connect(client_options options, const std::string& chroot) override {
        return client::connect(servers_ + chroot, std::move(options));
    }

    void expire(std::int64_t session) override {
        end_session(servers_.substr(0, servers_.find(',')), session);
    }

    std::string fresh_path() override { return real_ensemble::fresh_path(); }

    bool exists_needs_read() const override { return real_ensemble::shared().exists_needs_read(); }

private:
    std::string servers_;
};

}  // namespace

contest::contest(const setup& s)
    : path_(real_ensemble::fresh_path() + "/lock"),
      effects_(path_ + "-effects"),
      operator_(std::make_unique<operators_world>(s.other_servers)),
      look_(operator_->connect()),
      first_(s.holders_servers, path_, s.session_timeout),
      second_(s.other_servers, path_, s.session_timeout) {
    operator_->create(effects_);
    first_.join();
    if (!eventually([this] { return first_.valid(); })) {
        throw std::runtime_error("the first one is not granted the lock");
    }
    first_token_ = first_.token();
    second_.join([this] { doubled_ = first_.valid(); });
}

std::vector<std::int64_t> contest::sessions_in_queue() {
    std::vector<std::int64_t> sessions;
    catch_up(look_);
    for (const participant& p : mutex(look_, path_).participants()) {
        sessions.push_back(p.session_id);
    }
    return sessions;
}

std::string contest::effect() {
    return operator_->get(effects_).value_or("none");
}

void contest::remove(const std::string& znode) {
    operator_->remove(znode);
}

void contest::remove_all(const competitor& one, const competitor& other) {
    const reply done = blocking_read(*client_core::of(look_),
                                     request::multi({request::remove(one.znode()),
                                                     request::remove(other.znode()),
                                                     request::remove(path_)}));
    if (!done.ok()) {
        throw std::runtime_error("cannot remove " + path_);
    }
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

loss_reason contest::expect_lost() {
    EXPECT_TRUE(eventually([&] { return !first_.valid(); }));
    const loss_reason why = first_.why_lost();
    EXPECT_TRUE(eventually([&] { return first_.stopped(); }));
    EXPECT_EQ(write(first_, "late"), errc::hold_lost);
    return why;
}

void contest::expect_granted_to_the_second() {
    EXPECT_TRUE(eventually([&] { return second_.valid(); }, 60s));
    EXPECT_LT(first_token_, second_.token());
    EXPECT_TRUE(writes(second_, "by the second"));
}

void contest::expect_taken_over() {
    expect_granted_to_the_second();
    EXPECT_FALSE(doubled());
    EXPECT_FALSE(first_.valid());
}

void report(const std::string& name, std::chrono::nanoseconds value) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(value);
    ::testing::Test::RecordProperty(name, std::to_string(ms.count()) + " ms");
    std::printf("%s: %lld ms\n", name.c_str(), static_cast<long long>(ms.count()));
}

}  // namespace latchkey::test
