#include "counted_resolver.hpp"

#include <utility>

namespace latchkey::test {

name_resolver counted_resolver::resolver() {
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

void counted_resolver::begin() {
    names_ = std::make_shared<std::map<std::string, name>>();
    known_ = false;
}

}  // namespace latchkey::test
