#include "input.hpp"
#include "session/chroot.hpp"
#include "session/request_check.hpp"

#include <algorithm>

// Requests made up from bytes: what is let through must be what the C client and the servers take.

namespace {

using namespace latchkey;
using fuzz::require;
using kind = request::kind;

request make(fuzz::numbers& in, int depth) {
    request r;
    r.what = static_cast<kind>(in.below(9));
    r.mode = static_cast<create_mode>(in.below(5));
    r.path = (in.below(8) == 0 ? "" : "/") + std::string(in.text(20));
    r.data = in.text(20);
    if (in.below(50) == 1) {
        r.data.resize(largest_request - 200 + in.below(400));
    }
    if (r.what == kind::multi && depth < 3) {
        for (std::size_t left = in.below(4); left > 0; --left) {
            r.operations.push_back(make(in, depth + 1));
        }
    }
    return r;
}

std::size_t bytes_of(const request& r) {
    std::size_t sum = r.path.size() + r.data.size();
    for (const request& operation : r.operations) {
        sum += bytes_of(operation);
    }
    return sum;
}

void check_sent(const request& r) {
    require(r.what != kind::check, "a check stands in a multi only");
    require(bytes_of(r) <= largest_request, "nothing is too large");
    if (r.what != kind::multi) {
        require(r.path.front() == '/', "paths are absolute");
        return;
    }
    require(!r.operations.empty(), "no multi is empty");
    for (const request& operation : r.operations) {
        require(operation.what == kind::create || operation.what == kind::remove ||
                    operation.what == kind::set || operation.what == kind::check,
                "a multi is of writes and checks");
        require(operation.what != kind::create || operation.mode != create_mode::container,
                "no container is created in a multi");
        require(operation.path.front() == '/' && operation.path.find('\0') == std::string::npos,
                "paths in it are absolute, without NUL");
    }
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    fuzz::numbers in(text);
    const request r = make(in, 0);
    const bool sent = acceptable(r);
    if (sent) {
        check_sent(r);
    }
    request below = r;
    prepend_chroot("/a/b", below);
    require(!sent || bytes_of(r) + 1000 > largest_request || acceptable(below),
            "a chroot makes nothing unacceptable");
}
