// A program that has the library alone, without the ensemble for tests: it finds no server, and
// says so.
#include <latchkey/client.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/version.hpp>

#include <chrono>
#include <iostream>

int main() {
    auto zk = latchkey::client::connect("127.0.0.1:1");
    latchkey::mutex m(zk, "/lock");
    try {
        const latchkey::guard g(m, std::chrono::milliseconds(100));
    } catch (const latchkey::error& e) {
        std::cout << "Latchkey " << latchkey::version().library << ": " << e.what() << '\n';
        return e.code() == latchkey::errc::unreachable ? 0 : 1;
    }
    return 1;
}
