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

}  // namespace latchkey::inline v0
