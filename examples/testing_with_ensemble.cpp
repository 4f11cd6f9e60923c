// Tests a program that uses Latchkey without servers and without a test framework:
// latchkey::testing::ensemble behaves like three servers, in this process, and fails on demand.
#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>

#include <cstdlib>
#include <iostream>

using namespace std::chrono_literals;

void expect(bool holds, const char* claim);

/// The code under test. It works only while it holds the lock.
class service {
public:
    explicit service(latchkey::mutex& active) : guard_(active) {}

    [[nodiscard]] bool works() const { return guard_.valid(); }

    [[nodiscard]] latchkey::fencing_token token() const { return guard_.token(); }

private:
    latchkey::guard guard_;
};

int main() {
    latchkey::testing::ensemble servers;
    auto zk = servers.connect({.session_timeout = 6s});
    latchkey::mutex active(zk, "/service/active");
    const service first(active);
    expect(first.works(), "a service with the lock works");

    servers.suspend(zk.session_id());  // no server is reached any more
    servers.advance(6s);               // six seconds pass at once
    expect(!first.works(), "it stops when no server answers");

    servers.advance(20s);
    auto another = servers.connect();
    latchkey::mutex same(another, "/service/active");
    const service second(same);
    expect(second.works(), "another one takes over");
    expect(second.token() > first.token(), "with a higher token");
}

void expect(bool holds, const char* claim) {
    std::cout << (holds ? "yes: " : "NO:  ") << claim << '\n';
    if (!holds) {
        std::exit(1);
    }
}
