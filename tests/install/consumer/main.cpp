#include <latchkey/boottime_clock.hpp>
#include <latchkey/error.hpp>

#include <iostream>

int main() {
    const std::error_code code = latchkey::errc::session_lost;
    std::cout << code.category().name() << ": " << code.message() << '\n';
    const bool known = code == latchkey::cause::session_lost;
    return known && latchkey::boottime_clock::now().time_since_epoch().count() > 0 ? 0 : 1;
}
