// The C client with hand-written requests, as the lines on standard input say: see driver.hpp.
#include "driver.hpp"
#include "pipelined_client.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace latchkey::bench {
namespace {

std::string servers;

std::string child(const order& o, std::size_t number) {
    return o.text("path") + '/' + std::to_string(number);
}

/// Create and list in one round trip, and a delete that is not awaited.
figures acquire(const order& o) {
    pipelined_client c(servers);
    c.create_directory(o.text("path"));
    figures f = repeat(o, [&] { c.start_removing(c.join(o.text("path"))); });
    c.settle();
    return f;
}

/// As many directories.
figures prepare(const order& o) {
    pipelined_client c(servers);
    c.create_directory(o.text("path"));
    const auto start = steady::now();
    const std::size_t count = o.number("count");
    c.create_each(count, 256, [&](std::size_t i) { return child(o, i); });
    return {.operations = count, .seconds = seconds_since(start)};
}

/// Creates and deletes in the directories of `prepare`.
figures pipeline(const order& o) {
    pipelined_client c(servers);
    const std::size_t count = o.number("count");
    std::vector<std::string> directories;
    for (std::size_t i = 0; i < count; ++i) {
        directories.push_back(child(o, i));
    }
    const auto start = steady::now();
    c.create_and_delete(count, o.number("depth"), [&](std::size_t i) -> const std::string& {
        return directories[i];
    });
    return {.operations = count, .seconds = seconds_since(start)};
}

}  // namespace
}  // namespace latchkey::bench

int main(int argc, char** argv) {
    using namespace latchkey::bench;
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s SERVERS\n", argv[0]);
        return 64;
    }
    servers = argv[1];
    return serve({{"acquire", acquire}, {"prepare", prepare}, {"pipeline", pipeline}});
}
