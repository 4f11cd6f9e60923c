#include "loop/callback_guard.hpp"

#include <exception>
#include <string>
#include <utility>

namespace latchkey::inline v0 {
namespace {

thread_local bool inside = false;

struct marker {
    marker() = default;
    marker(const marker&) = delete;
    marker& operator=(const marker&) = delete;

    ~marker() { inside = before; }

    const bool before = std::exchange(inside, true);
};

/// The what() of the exception that is being handled, or a description.
std::string thrown() {
    try {
        throw;
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "something other than a std::exception";
    }
}

}  // namespace

void run_callback(move_only_function<void()> code,
                  const std::function<void(std::string_view)>& log) noexcept {
    const marker here;
    try {
        code();
    } catch (...) {
        try {
            if (log) {
                log("a callback threw: " + thrown());
            }
        } catch (...) {  // there is no other place to report this
        }
    }
    code = nullptr;
}

bool in_callback() noexcept {
    return inside;
}

}  // namespace latchkey::inline v0
