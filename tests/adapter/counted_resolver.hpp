#pragma once

#include "adapter_stage.hpp"
#include "zookeeper/name_resolution.hpp"

#include <chrono>
#include <memory>

namespace latchkey::test {

/// A session's way to the names: one look-up at a time, and as long as none succeeds less and less
/// often.
class counted_resolver {
public:
    explicit counted_resolver(adapter_stage& stage) : stage_(stage) {}

    [[nodiscard]] name_resolver resolver();

    /// Another session begins.
    void begin();

    /// An address is known.
    void attempted() { known_ = true; }

private:
    adapter_stage& stage_;
    std::shared_ptr<int> pending_ = std::make_shared<int>(0);
    std::chrono::nanoseconds first_{};
    int count_ = 0;
    bool known_ = false;
};

}  // namespace latchkey::test
