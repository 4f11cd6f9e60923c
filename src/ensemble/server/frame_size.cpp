#include "ensemble/server/frame_size.hpp"

namespace latchkey::model {
namespace {

using kind = request::kind;

constexpr std::size_t number = 4;
constexpr std::size_t request_header = 3 * number;  ///< length, xid, operation
constexpr std::size_t answer_header = 5 * number;   ///< length, xid, zxid, code
constexpr std::size_t part_header = 9;              ///< of a multi: operation, whether last, code
constexpr std::size_t stat_size = 68;

std::size_t size_of(std::string_view text) {
    return number + text.size();
}

std::size_t size_of(const acl& access) {
    std::size_t size = number;
    for (const acl_entry& e : access) {
        size += number + size_of(e.scheme) + size_of(e.id);
    }
    return size;
}

std::size_t body_size(const request& r) {
    switch (r.what) {
        case kind::create:
            return size_of(r.path) + size_of(r.data) + size_of(r.access) + number;
        case kind::set:
            return size_of(r.path) + size_of(r.data) + number;
        case kind::set_acl:
            return size_of(r.path) + size_of(r.access) + number;
        case kind::remove:
        case kind::check:
            return size_of(r.path) + number;
        case kind::get:
        case kind::exists:
        case kind::children:
            return size_of(r.path) + 1;
        case kind::sync:
        case kind::get_acl:
            return size_of(r.path);
        case kind::multi:
            break;
    }
    std::size_t size = part_header;  // the end of the parts
    for (const request& part : r.operations) {
        size += part_header + body_size(part);
    }
    return size;
}

std::size_t results_size(const request& r, bool with_stats, const reply& results) {
    std::size_t size = part_header;
    for (std::size_t i = 0; i < results.results.size(); ++i) {
        size += part_header;
        if (!results.ok()) {
            size += number;
        } else if (r.operations[i].what == kind::create) {
            size += size_of(results.results[i].path) + (with_stats ? stat_size : 0);
        } else if (r.operations[i].what == kind::set) {
            size += stat_size;
        }
    }
    return size;
}

}  // namespace

std::size_t frame_size(const request& r) {
    return request_header + body_size(r);
}

std::size_t answer_size(const packet& to, const reply& r) {
    if (to.body.what == kind::multi && (r.ok() || !r.results.empty())) {
        return answer_header + results_size(to.body, to.stats, r);
    }
    if (!r.ok()) {
        return answer_header;
    }
    std::size_t size = answer_header;
    switch (to.body.what) {
        case kind::create:
            return size + size_of(r.path) + stat_size;
        case kind::get:
            return size + size_of(r.data) + stat_size;
        case kind::exists:
        case kind::set:
        case kind::set_acl:
            return size + stat_size;
        case kind::children:
            size += number + stat_size;
            for (const std::string& name : r.names) {
                size += size_of(name);
            }
            return size;
        case kind::sync:
            return size + size_of(to.body.path);
        case kind::get_acl:
            return size + size_of(r.access) + stat_size;
        default:
            return size;
    }
}

std::size_t event_size(std::string_view path) {
    return answer_header + 2 * number + size_of(path);
}

}  // namespace latchkey::model
