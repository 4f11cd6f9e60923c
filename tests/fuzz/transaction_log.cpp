#include "transaction_log.hpp"

#include "input.hpp"

#include <algorithm>
#include <stdexcept>

// The servers' log, as the checker of histories reads it: as the bytes are, and with the frame that
// the bytes alone would hardly ever have: a header, a length, a checksum, an end mark.

namespace {

using namespace latchkey;
using fuzz::require;

std::string big_endian(std::uint64_t value, int size) {
    std::string bytes;
    while (size-- > 0) {
        bytes += static_cast<char>(value >> 8U * static_cast<unsigned>(size));
    }
    return bytes;
}

std::uint64_t checksum(std::string_view bytes) {
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : bytes) {
        a = (a + static_cast<unsigned char>(c)) % 65521U;
        b = (b + a) % 65521U;
    }
    return b << 16U | a;
}

void check(std::string_view log) {
    std::vector<history::transaction> read;
    try {
        read = history::parse_log(log);
    } catch (const std::runtime_error&) {
        return;  // it is no log
    }
    std::size_t changes = 0;
    for (const history::transaction& t : read) {
        changes += t.changes.size();
    }
    require(read.size() + changes <= log.size(), "nothing comes from nothing");
    if (log.size() > 16) {
        // A server is killed while it writes: that is no error.
        const auto part = history::parse_log(log.substr(0, log.size() - 1));
        require(part.size() <= read.size() && std::equal(part.begin(), part.end(), read.begin()),
                "a shorter log says the same, as far as it goes");
    }
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    check(text);
    std::string log = "ZKLG" + big_endian(2, 4) + big_endian(0, 8);
    for (fuzz::numbers rest(text); !rest.empty();) {
        const std::string_view entry = rest.text(300);
        log += big_endian(checksum(entry), 8) + big_endian(entry.size(), 4);
        log += entry;
        log += 'B';
    }
    check(log);
}
