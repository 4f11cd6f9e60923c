// How a program that uses Latchkey is tested without servers: latchkey::testing::ensemble behaves
// like three of them, in this process, and does what no real one does on demand.
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include <cstdlib>
#include <iostream>

using namespace std::chrono_literals;

void expect(bool holds, const char* claim);

/// What is tested: it works only while its hold is valid.
class service {
public:
    explicit service(latchkey::mutex& active) : hold_(active.acquire()) {}

    [[nodiscard]] bool works() const { return hold_.valid(); }

    [[nodiscard]] latchkey::fencing_token token() const { return hold_.token(); }

private:
    latchkey::hold hold_;
};

int main() {
    latchkey::testing::ensemble servers;
    auto zk = servers.connect({.session_timeout = 6s});
    latchkey::mutex active(zk, "/service/active");
    const service first(active);
    expect(first.works(), "a service with the lock works");

    servers.suspend(zk.session_id());  // its network is gone
    servers.advance(6s);               // which pass at once
    expect(!first.works(), "it stops by itself when no server answers");

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
