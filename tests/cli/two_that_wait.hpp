#pragma once

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "queued.hpp"

#include <future>
#include <stop_token>
#include <string>

namespace latchkey::test {

/// A deadlock: one client holds PATH/a and waits for PATH/b, and another client the reverse.
class two_that_wait {
public:
    two_that_wait(const client& one, const client& two, const std::string& path)
        : a_one_(one, path + "/a"),
          b_one_(one, path + "/b"),
          a_two_(two, path + "/a"),
          b_two_(two, path + "/b"),
          a_(a_one_.acquire()),
          b_(b_two_.acquire()),
          one_waits_(queued_until(stop_.get_token(), b_one_)),
          two_waits_(queued_until(stop_.get_token(), a_two_)) {}

    two_that_wait(const two_that_wait&) = delete;
    two_that_wait& operator=(const two_that_wait&) = delete;

    ~two_that_wait() {
        stop_.request_stop();
        static_cast<void>(one_waits_.get());
        static_cast<void>(two_waits_.get());
    }

private:
    mutex a_one_, b_one_, a_two_, b_two_;
    hold a_, b_;
    std::stop_source stop_;
    std::future<hold> one_waits_, two_waits_;
};

}  // namespace latchkey::test
