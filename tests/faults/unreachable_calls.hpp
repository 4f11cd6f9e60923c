#pragma once

#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::test {

inline void stop_all(testing::ensemble& in) {
    for (int i = 0; i < 3; ++i) {
        in.stop_server(i);
    }
}

inline void start_all(testing::ensemble& in) {
    for (int i = 0; i < 3; ++i) {
        in.start_server(i);
    }
}

/// One timed call of one recipe, on a stepped ensemble, and another client that makes it wait.
class timed_call {
public:
    using handler = std::function<void(std::error_code, bool)>;

    timed_call(testing::ensemble& in, client& mine) : in_(in), mine_(mine) {}

    timed_call(const timed_call&) = delete;
    timed_call& operator=(const timed_call&) = delete;
    virtual ~timed_call() = default;

    /// What has to be so before the call can begin.
    virtual void prepare() {}

    /// From now on the call has to wait for another client.
    virtual void occupy() {}

    virtual void begin(std::chrono::nanoseconds limit, std::stop_token stop, handler h) = 0;

protected:
    testing::ensemble& in_;
    client& mine_;

    /// Another client, connected.
    [[nodiscard]] client& other();

    /// Runs the ensemble until `done`.
    void await(const std::function<bool()>& done);

private:
    std::unique_ptr<client> other_;
};

struct timed_recipe {
    std::string name;
    std::function<std::unique_ptr<timed_call>(testing::ensemble&, client&)> make;
};

inline void PrintTo(const timed_recipe& r, std::ostream* out) {
    *out << r.name;
}

/// Those that can begin without a server.
[[nodiscard]] std::vector<timed_recipe> timed_from_the_start();

/// Requests of a client, a barrier and a hold, which have limits of their own.
[[nodiscard]] std::vector<timed_recipe> timed_requests();

/// Those that create a znode, and the directories above it.
[[nodiscard]] std::vector<timed_recipe> timed_that_create();

/// Those that have something already.
[[nodiscard]] std::vector<timed_recipe> timed_once_inside();

}  // namespace latchkey::test
