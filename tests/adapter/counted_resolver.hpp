#pragma once

#include "adapter_stage.hpp"
#include "zookeeper/name_resolution.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace latchkey::test {

/// A session's way to the names: each is looked up by itself, once at a time, and as long as none
/// succeeds less and less often.
class counted_resolver {
public:
    explicit counted_resolver(adapter_stage& stage) : stage_(stage) {}

    [[nodiscard]] name_resolver resolver();

    /// Another session begins.
    void begin();

    /// An address is known.
    void attempted() { known_ = true; }

private:
    struct name {
        std::chrono::nanoseconds first{};
        int count = 0;
        int pending = 0;
    };

    adapter_stage& stage_;
    std::shared_ptr<std::map<std::string, name>> names_ =
        std::make_shared<std::map<std::string, name>>();
    bool known_ = false;
};

}  // namespace latchkey::test
