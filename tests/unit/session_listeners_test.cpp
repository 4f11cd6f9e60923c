#include "client/session_listeners.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

class listener final : public session_listener {
public:
    explicit listener(std::function<void()> when_connected)
        : when_connected_(std::move(when_connected)) {}

    void session_connected() override { when_connected_(); }

    void client_closed(const failure&) override {}

private:
    const std::function<void()> when_connected_;
};

class SessionListeners : public ::testing::Test {
protected:
    listener* attach(
        char name, std::function<void()> then = [] {}) {
        auto added = std::make_shared<listener>([this, name, then = std::move(then)] {
            notified_ += name;
            then();
        });
        listener* const raw = added.get();
        all_.attach(std::move(added));
        return raw;
    }

    /// Who is notified, in order.
    std::string notify() {
        notified_.clear();
        all_.notify(&session_listener::session_connected);
        return notified_;
    }

    session_listeners all_;
    std::string notified_;
};

TEST_F(SessionListeners, AreNotifiedUntilTheyAreDetached) {
    listener* const a = attach('a');
    attach('b');
    listener* const c = attach('c');
    EXPECT_EQ(notify(), "abc");
    all_.detach(a);
    EXPECT_EQ(notify(), "cb") << "the last one takes the place of the one that went";
    all_.detach(c);
    EXPECT_EQ(notify(), "b");
    attach('d');
    EXPECT_EQ(notify(), "bd");
}

TEST_F(SessionListeners, AreNotNotifiedOnceAnEarlierOneHasDetachedThem) {
    listener* b = nullptr;
    attach('a', [&] { all_.detach(std::exchange(b, nullptr)); });
    b = attach('b');
    attach('c');
    EXPECT_EQ(notify(), "ac");
}

TEST_F(SessionListeners, MayBeDetachedTwice) {
    auto kept = std::make_shared<listener>([] {});
    all_.attach(kept);
    attach('b');
    all_.detach(kept.get());
    all_.detach(kept.get());
    EXPECT_EQ(notify(), "b");
}

}  // namespace
}  // namespace latchkey
