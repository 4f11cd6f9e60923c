// A service's own test, as its author would write it: two clients and one lock in an ensemble
// inside the process.
#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include <iostream>

int main() {
    latchkey::testing::ensemble servers;
    latchkey::client one = servers.connect();
    latchkey::client two = servers.connect();
    latchkey::mutex mine(one, "/jobs/nightly");
    latchkey::mutex theirs(two, "/jobs/nightly");

    latchkey::hold first = mine.acquire();
    const bool excluded = !theirs.try_acquire();
    const auto token = first.token();
    first.release();
    const latchkey::hold second = theirs.acquire();
    const bool ordered = second.valid() && token < second.token();

    std::cout << (excluded ? "excluded" : "NOT EXCLUDED") << ", "
              << (ordered ? "ordered" : "NOT ORDERED") << '\n';
    return excluded && ordered ? 0 : 1;
}
