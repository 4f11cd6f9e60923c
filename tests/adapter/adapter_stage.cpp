#include "adapter_stage.hpp"

#include <chrono>
#include <ostream>

namespace latchkey::test {

void adapter_stage::broken(const char* promise, const std::string& what) {
    tell("BROKEN " + std::string(promise) + ": " + what);
    result.violations.push_back({promise, what});
}

void adapter_stage::tell(const std::string& what) const {
    if (tale != nullptr) {
        const auto at = std::chrono::duration_cast<std::chrono::microseconds>(servers.now());
        *tale << at.count() % 1'000'000'000 << ": " << what << '\n';
    }
}

}  // namespace latchkey::test
