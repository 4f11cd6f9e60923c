#pragma once

#include <latchkey/group.hpp>

#include "stepped_test.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::test {

constexpr auto without_limit = std::chrono::nanoseconds::max();

/// The counts in words: requests, watches and events, without signs of life and bytes.
inline std::string described(const testing::counters& n) {
    std::string text;
    const auto add = [&](const char* what, std::uint64_t count) {
        text += count == 0 ? "" : std::string(what) + ' ' + std::to_string(count) + ' ';
    };
    add("create", n.creates);
    add("delete", n.removes);
    add("get", n.gets);
    add("list", n.children);
    add("set", n.sets);
    add("multi", n.multis);
    add("sync", n.syncs);
    add("watch", n.watches_set);
    add("event", n.watch_events);
    return text;
}

/// What calls cost, counted by the servers.
class CostTest : public SteppedTest {
protected:
    void settle() {
        SteppedTest::settle();
        begin_counting();
    }

    void begin_counting() {
        ensemble_.reset_counters();
        counted_since_ = ensemble_.now();
    }

    /// Waits for the end of a call, which has no error.
    template <class Call>
    std::shared_ptr<Call> finished(std::shared_ptr<Call> call) {
        EXPECT_TRUE(ensemble_.run_until([&] { return call->done; }, 10s));
        EXPECT_FALSE(call->ec) << call->ec.message();
        return call;
    }

    /// From the beginning of the count to the end of this call.
    template <class Call>
    [[nodiscard]] ensemble::duration took(const std::shared_ptr<Call>& call) const {
        return call->at - counted_since_;
    }

    [[nodiscard]] testing::counters count(const client& c) {
        return ensemble_.count(c.session_id());
    }

    [[nodiscard]] std::string spent() { return described(ensemble_.count()); }

    [[nodiscard]] std::string spent(const client& c) { return described(count(c)); }

    membership join(group& g, const std::string& name) {
        const auto joined = std::make_shared<membership>();
        bool done = false;
        g.async_join(name,
                     without_limit,
                     {.data = "x", .stop = {}},
                     [joined, &done](std::error_code ec, membership m) {
                         EXPECT_FALSE(ec) << ec.message();
                         *joined = std::move(m);
                         done = true;
                     });
        EXPECT_TRUE(ensemble_.run_until([&] { return done; }, 10s));
        return std::move(*joined);
    }

private:
    ensemble::duration counted_since_{};
};

}  // namespace latchkey::test
