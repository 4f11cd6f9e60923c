#include "leader/leader_record.hpp"

#include <latchkey/error.hpp>

#include "queue/znode_names.hpp"
#include "text/path.hpp"
#include "text/untrusted_json.hpp"
#include "text/utf8.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

using json = nlohmann::json;

constexpr const char* leading = "leading";
constexpr const char* clean = "clean";

// No znode has a longer name: a GUID, a marker and ten digits, with room for other libraries'
// names.
constexpr std::size_t longest_name = 256;

}  // namespace

std::string write_leader_record(const leader_record& r) {
    json record{{"leader", r.id},
                {"znode", r.znode},
                {"state", r.is == leader_record::state::clean ? clean : leading},
                {"data", r.data}};
    if (r.token != 0) {
        record["token"] = r.token;
    }
    if (r.version != 0) {
        record["version"] = r.version;
    }
    if (r.turn != 0) {
        record["turn"] = r.turn;
    }
    if (!r.unclean.empty()) {
        record["unclean"] = r.unclean;
    }
    if (!r.successor.empty()) {
        record["successor"] = r.successor;
    }
    return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<leader_record> read_leader_record(std::string_view data) {
    const json record = read_untrusted(data, longest_leader_record, 1);
    if (!record.is_object()) {
        return std::nullopt;
    }
    auto id = text_in(record, "leader", longest_leader_id);
    auto znode = text_in(record, "znode", longest_name);
    auto published = text_in(record, "data", longest_leader_data);
    const auto state = text_in(record, "state", longest_name);
    const auto token = record.contains("token") ? integer_in(record, "token") : 0;
    const auto version = record.contains("version") ? integer_in(record, "version") : 0;
    const auto turn = record.contains("turn") ? integer_in(record, "turn") : 0;
    if (!id || !znode || !published || token.value_or(-1) < 0 || turn.value_or(-1) < 0 ||
        *turn >= fencing_token::turns || !version || *version != std::int32_t(*version) ||
        (state != leading && state != clean) || znode->find('/') != std::string::npos) {
        return std::nullopt;
    }
    const bool is_clean = state == clean;
    auto unclean = text_in(record, "unclean", longest_leader_id);
    auto successor = text_in(record, "successor", longest_name);
    if ((record.contains("unclean") && !unclean) ||
        (record.contains("successor") && (!successor || !is_clean))) {
        return std::nullopt;
    }
    return leader_record{
        .id = *std::move(id),
        .data = *std::move(published),
        .znode = *std::move(znode),
        .token = *token,
        .turn = static_cast<std::uint32_t>(*turn),
        .version = static_cast<std::int32_t>(*version),
        .is = is_clean ? leader_record::state::clean : leader_record::state::leading,
        .unclean = std::move(unclean).value_or(""),
        .successor = std::move(successor).value_or("")};
}

std::string unclean_before(const std::optional<leader_record>& last, std::string_view next_id) {
    if (!last) {
        return {};
    }
    const bool died = last->is == leader_record::state::leading && last->id != next_id;
    const std::string& unclean = died ? last->id : last->unclean;
    return unclean == next_id ? std::string() : unclean;
}

std::optional<fencing_token> token_of_successor(const leader_record& r,
                                                std::string_view candidate) {
    return r.token != 0 && r.turn + 1 < fencing_token::turns && r.successor == candidate
               ? std::optional(fencing_token{r.token, r.turn + 1})
               : std::nullopt;
}

leader_info leader_from(const std::string& path, const reply& znode, const reply& directory) {
    leader_info who{.id = znode.data, .data = {}, .token = {}, .path = path};
    const std::string_view name = name_of(path);
    if (name.find(candidate_names.exclusive) == std::string_view::npos) {
        who.token.zxid = znode.stat.czxid;  // as for a mutex
    }
    auto record = read_leader_record(directory.data);
    if (const auto next = record ? token_of_successor(*record, name) : std::nullopt) {
        who.token = *next;
    } else if (record && record->znode == name) {
        who.token = token_of(*record, directory.stat.mzxid);
        who.data = std::move(record->data);
    }
    return who;
}

void check_leader_data(const std::string& data) {
    if (data.size() > longest_leader_data) {
        throw error(errc::invalid_argument,
                    "data of " + std::to_string(data.size()) +
                        " bytes is too long: a leader publishes at most " +
                        std::to_string(longest_leader_data) + " bytes");
    }
    if (!is_utf8(data)) {
        throw error(
            errc::invalid_argument,
            "data \"" + escaped(data.substr(0, 64)) + "\" is not UTF-8: encode it as UTF-8");
    }
}

bool may_become_record(std::string_view data) {
    return data.empty() || read_leader_record(data).has_value() ||
           !named_by_front_mark(data).empty();
}

failure refuse_foreign_data(std::string_view path, std::string_view data) {
    if (may_become_record(data)) {
        return {};
    }
    return {
        errc::invalid_argument,
        "\"" + escaped(path) +
            "\" already has data that is not a leader record, and Latchkey does not overwrite it: "
            "empty the znode's data, or use another path"};
}

}  // namespace latchkey::inline v0
