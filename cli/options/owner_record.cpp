#include "options/owner_record.hpp"

#include "output/exit_status.hpp"
#include "output/json_text.hpp"
#include "queue/participant_record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

std::string owner_record(std::string_view mode, const std::string& id, const std::string& data) {
    auto record = nlohmann::json::parse(record_writer::shared()->write(mode));
    if (!id.empty()) {
        record["id"] = id;
    }
    if (!data.empty()) {
        record["data"] = data;
    }
    auto text = ascii_text(record);
    if (text.size() > longest_record) {
        throw usage_error(
            fmt::format("--id and --data: too long by {} bytes for the {} bytes that the znode of "
                        "a participant has; give shorter ones",
                        text.size() - longest_record,
                        longest_record));
    }
    return text;
}

}  // namespace latchkey::cli
