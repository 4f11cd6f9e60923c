#pragma once

#include "eventually.hpp"
#include "scripted_server.hpp"
#include "session_probe.hpp"

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

using greeting = scripted_server::greeting;
using kind = session_event::kind;

/// A session of the C client at a scripted server.
class ScriptedSession : public ::testing::Test {
protected:
    ScriptedSession() { EXPECT_TRUE(session_.wait_for(kind::connected)); }

    scripted_server server_;
    session_probe session_{server_.address()};
};

/// Whether it completes in a time that no machine exceeds.
template <class T>
[[nodiscard]] bool completes(const std::future<T>& f) {
    return f.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
}

/// "a,b,c", of servers that have an address().
template <class Servers>
[[nodiscard]] std::string addresses_of(const Servers& servers) {
    std::string all;
    for (const auto& one : servers) {
        all += (all.empty() ? "" : ",") + one.address();
    }
    return all;
}

}  // namespace latchkey::test
