#include "user_code.hpp"

#include <utility>

namespace latchkey {
namespace {

thread_local bool inside = false;

struct marker {
    marker() = default;
    marker(const marker&) = delete;
    marker& operator=(const marker&) = delete;

    ~marker() { inside = before; }

    const bool before = std::exchange(inside, true);
};

}  // namespace

void run_user_code(const std::function<void()>& code) {
    const marker here;
    code();
}

bool in_user_code() noexcept {
    return inside;
}

}  // namespace latchkey
