#include <latchkey/error.hpp>

#include "datagram/datagram_address.hpp"
#include "datagram/datagram_socket.hpp"
#include "direct/direct_message.hpp"
#include "input.hpp"
#include "queue/participant_record.hpp"

// A datagram: any host that reaches the port may send anything. And the addresses in a record.

namespace {

using namespace latchkey;
using fuzz::require;

void check_datagram(std::string_view text) {
    const auto read = read_direct_message(text);
    const direct_key key{1, 2, 3};
    if (!read) {
        return;
    }
    require(!read->ahead.empty() && !read->behind.empty(), "both are named");
    require(read->ahead.size() <= longest_direct_name && read->behind.size() <= longest_direct_name,
            "a name is short");
    require(!authenticates(text, key), "nobody knows the key");
    const std::string written = write_direct_message(*read, key);
    if (!written.empty()) {
        require(written.size() <= longest_datagram, "a message fits in a datagram");
        require(read_direct_message(written) == read, "a message is read again");
        require(authenticates(written, key), "of one who knows the key");
    }
}

void check_address(std::string_view text) {
    try {
        const datagram_address a = parse_datagram_address(text);
        require(a.first_port <= a.last_port, "a range of ports has an order");
    } catch (const error& e) {
        require(e.code() == errc::invalid_argument, "an address is refused as that");
    }
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    check_datagram(text);
    check_address(text);
    const auto contact = contact_in(text);
    require(!contact || (!contact->addresses.empty() &&
                         contact->addresses.size() <= most_datagram_addresses),
            "a contact has addresses");
}
