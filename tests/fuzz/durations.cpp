#include <latchkey/duration.hpp>

#include "input.hpp"
#include "options/duration_text.hpp"
#include "output/exit_status.hpp"

#include <cmath>
#include <cstring>

// Durations: as people write them, and of whatever type a program has them.

namespace {

using namespace latchkey;
using fuzz::require;
using std::chrono::nanoseconds;

void check_written(const std::string& text) {
    try {
        const nanoseconds read = cli::parse_seconds("-w", text);
        require(read >= nanoseconds::zero(), "no duration is negative");
        require(read != nanoseconds::zero() || text.find_first_of("123456789") == std::string::npos,
                "only nothing is nothing");
        const long double meant = std::strtold(text.c_str(), nullptr) * 1e9L;
        const auto got = static_cast<long double>(read.count());
        require(read == nanoseconds::max() ? meant > 9.1e18L
                                           : std::abs(got - meant) <= 1 + meant * 1e-15L,
                "it is what was written");
        require(text.find_first_not_of("0123456789.") == std::string::npos, "a plain decimal");
    } catch (const cli::usage_error& e) {
        require(std::string_view(e.what()).starts_with("-w: "), "the option is named");
        require(std::string_view(e.what()).find('\n') == std::string_view::npos, "in one line");
    }
}

template <class D>
void check_converted(D d) {
    const nanoseconds ns = to_nanoseconds(d);
    const auto count = static_cast<long double>(d.count());
    require(!(count > 0) || ns >= nanoseconds::zero(), "the sign stays");
    require(!(count < 0) || ns <= nanoseconds::zero(), "the sign stays");
    require(to_nanoseconds(ns) == ns, "nanoseconds stay what they are");
}

template <class T>
T value_of(std::string_view bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
    return value;
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    check_written(std::string(text));
    const auto real = value_of<double>(text);
    const auto whole = value_of<std::int64_t>(text);
    check_converted(std::chrono::duration<double>(real));
    check_converted(std::chrono::duration<double, std::nano>(real));
    check_converted(std::chrono::duration<std::int64_t, std::ratio<86'400>>(whole));
    check_converted(std::chrono::duration<std::int64_t, std::ratio<1, 3>>(whole));
    check_converted(nanoseconds(whole));
    using clock = std::chrono::steady_clock;
    require(time_left(clock::time_point(nanoseconds(whole))) >= nanoseconds::zero(),
            "no time left is none, not less");
}
