#include "text/untrusted_json.hpp"

namespace latchkey::inline v0 {

nlohmann::json read_untrusted(std::string_view data, std::size_t longest, int depth) {
    if (data.size() > longest) {
        return nlohmann::json(nlohmann::json::value_t::discarded);
    }
    return nlohmann::json::parse(
        data,
        [depth](int at, nlohmann::json::parse_event_t, const nlohmann::json&) {
            return at <= depth;
        },
        false);
}

std::optional<std::int64_t> integer_in(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer() ||
        (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX)) {
        return std::nullopt;
    }
    return found->get<std::int64_t>();
}

std::optional<std::string> text_in(const nlohmann::json& object,
                                   const char* key,
                                   std::size_t longest) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) {
        return std::nullopt;
    }
    const auto& text = found->get_ref<const std::string&>();
    return text.size() <= longest ? std::optional(text) : std::nullopt;
}

}  // namespace latchkey::inline v0
