#include "counted_resolver.hpp"

#include <utility>

namespace latchkey::test {

name_resolver counted_resolver::resolver() {
    return [this, asked = stage_.names.resolver()](auto endpoints, auto done) {
        const auto now = stage_.servers.now();
        first_ = count_++ == 0 ? now : first_;
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(now - first_).count();
        // In the end at most every 1.5 seconds.
        if (!known_ && count_ > 8 + seconds) {
            stage_.broken("A11", "names are looked up again and again");
        }
        if (++*pending_ > 1) {
            stage_.broken("A11", "names are looked up twice at once");
        }
        asked(std::move(endpoints), [pending = pending_, done = std::move(done)](auto result) {
            --*pending;
            done(std::move(result));
        });
    };
}

void counted_resolver::begin() {
    pending_ = std::make_shared<int>(0);
    count_ = 0;
    known_ = false;
}

}  // namespace latchkey::test
