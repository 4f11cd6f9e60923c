#include "session/request_check.hpp"

#include <algorithm>
#include <string_view>

namespace latchkey::inline v0 {
namespace {

bool sequential(create_mode mode) noexcept {
    return mode == create_mode::persistent_sequential || mode == create_mode::ephemeral_sequential;
}

bool acceptable_component(std::string_view component) noexcept {
    const auto refused = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    return !component.empty() && component != "." && component != ".." &&
           std::none_of(component.begin(), component.end(), refused);
}

/// The servers append digits to the last component of a sequential create before they check it, so
/// that component may be empty or dots.
bool acceptable_path(std::string_view path, bool digits_follow) noexcept {
    if (path.empty() || path.front() != '/') {
        return false;
    }
    if (path == "/") {
        return true;
    }
    for (std::size_t begin = 1; begin <= path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        const auto component = path.substr(begin, end - begin);
        const bool last = end == path.size();
        if (!acceptable_component(component) &&
            !(last && digits_follow && acceptable_component(std::string(component) + "0"))) {
            return false;
        }
        begin = end + 1;
    }
    return true;
}

bool acceptable_operation(const request& r) noexcept {
    using kind = request::kind;
    switch (r.what) {
        case kind::create:
            return r.mode != create_mode::container && acceptable_path(r.path, sequential(r.mode));
        case kind::remove:
        case kind::set:
        case kind::check:
            return acceptable_path(r.path, false);
        default:
            return false;
    }
}

bool acceptable_kind(const request& r) noexcept {
    using kind = request::kind;
    switch (r.what) {
        case kind::multi:
            return !r.operations.empty() &&
                   std::all_of(r.operations.begin(), r.operations.end(), acceptable_operation);
        case kind::check:
            return false;
        case kind::create:
            return acceptable_path(r.path, sequential(r.mode));
        default:
            return acceptable_path(r.path, false);
    }
}

}  // namespace

std::size_t weight(const request& r) noexcept {
    // Enough for headers, lengths, version, flags and the multi's headers.
    std::size_t sum = 128 + r.path.size() + r.data.size();
    for (const auto& entry : r.access) {
        sum += 16 + entry.scheme.size() + entry.id.size();
    }
    for (const auto& operation : r.operations) {
        sum += weight(operation);
    }
    return sum;
}

bool acceptable(const request& r) noexcept {
    return acceptable_kind(r) && weight(r) <= largest_request;
}

}  // namespace latchkey::inline v0
