#include "act/queue_target.hpp"

#include "look/owner_text.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

bool is_called(const std::string& name, const std::string& path, const std::string& node) {
    return node == name || node == path || node == escaped(name) || node == escaped(path);
}

}  // namespace

std::optional<participant> participant_named(const queue_view& v, const std::string& node) {
    for (const participant& p : v.participants) {
        if (is_called(p.name, p.path, node)) {
            return p;
        }
    }
    for (const auto* const others : {&v.foreign, &v.malformed}) {
        for (const std::string& name : *others) {
            if (is_called(name, v.path + '/' + name, node)) {
                throw command_failure(
                    exit_status::failed,
                    fmt::format("'{}' on {} is not a participant of a {}; if it is in the way, its "
                                "owner must remove it",
                                escaped(node),
                                escaped(v.path),
                                to_string(v.kind)));
            }
        }
    }
    return std::nullopt;
}

std::string owner_of(const participant& p) {
    if (p.hidden()) {
        return "an owner that its access control list hides";
    }
    const auto here = std::chrono::system_clock::now() - p.created;
    return owner_text(p.data, std::max<std::chrono::nanoseconds>(here, p.existed_for));
}

}  // namespace latchkey::cli
