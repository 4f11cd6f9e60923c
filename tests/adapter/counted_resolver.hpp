#pragma once

#include "adapter_stage.hpp"
#include "zookeeper/name_resolution.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::test {

/// A session's way to the names: each is looked up by itself, once at a time, and as long as none
/// succeeds less and less often.
class counted_resolver {
public:
    explicit counted_resolver(adapter_stage& stage) : stage_(stage) {}

    [[nodiscard]] name_resolver resolver() {
        return [this, asked = stage_.names.resolver()](auto endpoint, auto done) {
            const auto now = stage_.servers.now();
            name& n = (*names_)[endpoint.host];
            n.first = n.count++ == 0 ? now : n.first;
            const auto seconds = std::chrono::ceil<std::chrono::seconds>(now - n.first).count();
            // In the end at most every 1.5 seconds.
            stage_.broken_if(
                !known_ && n.count > 8 + seconds, "A11", "names are looked up again and again");
            stage_.broken_if(++n.pending > 1, "A11", "a name is looked up twice at once");
            asked(endpoint,
                  [names = names_, host = endpoint.host, done = std::move(done)](auto result) {
                      --(*names)[host].pending;
                      done(std::move(result));
                  });
        };
    }

    /// Another session begins.
    void begin() {
        names_ = std::make_shared<std::map<std::string, name>>();
        known_ = false;
    }

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
