#include "queue/front_mark.hpp"

#include "queue/queue_order.hpp"
#include "queue/znode_names.hpp"

namespace latchkey::inline v0 {
namespace {

constexpr std::string_view mark_prefix = "latchkey-first ";
constexpr std::size_t longest_mark = 256;

}  // namespace

std::string front_mark(std::string_view name) {
    std::string mark(mark_prefix);
    mark += name;
    return mark;
}

std::string_view named_by_front_mark(std::string_view data) noexcept {
    const bool is_mark = data.size() <= longest_mark && data.starts_with(mark_prefix) &&
                         place_of(data, lock_names).what == queue_place::standing::participant;
    return is_mark ? data.substr(mark_prefix.size()) : std::string_view();
}

}  // namespace latchkey::inline v0
