#include "leader/transfer/mailbox.hpp"

#include "leader/leader_record.hpp"
#include "queue/queue_order.hpp"
#include "queue/znode_names.hpp"
#include "text/untrusted_json.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using json = nlohmann::json;
using kind = mailbox_message::kind;

constexpr std::string_view marker = "-latch-";
constexpr std::size_t guid_length = 36;

// JSON may need six bytes for each byte of an id.
constexpr std::size_t longest_message = 6 * longest_leader_id + 64;

constexpr std::pair<kind, const char*> keys[] = {
    {kind::offer, "offer"}, {kind::withdrawn, "withdrawn"}, {kind::resign, "resign"}};

bool is_guid(std::string_view text) noexcept {
    return text.size() == guid_length && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
           });
}

}  // namespace

std::string_view guid_in(std::string_view candidate) noexcept {
    const bool fits =
        candidate.size() == protection.size() + guid_length + marker.size() + sequence_digits &&
        candidate.starts_with(protection) &&
        candidate.substr(protection.size() + guid_length).starts_with(marker) &&
        place_of(candidate, latch_names).what == queue_place::standing::participant;
    const auto guid = fits ? candidate.substr(protection.size(), guid_length) : std::string_view();
    return is_guid(guid) ? guid : std::string_view();
}

std::optional<mailbox_name> read_mailbox_name(std::string_view name) {
    if (name.size() < guid_length + 3 || !name.starts_with('p')) {
        return std::nullopt;
    }
    const auto guid = name.substr(name.size() - guid_length);
    const auto number = name.substr(1, name.size() - guid_length - 2);
    mailbox_name read{.priority = 0, .guid = std::string(guid)};
    const auto [end, failed] =
        std::from_chars(number.data(), number.data() + number.size(), read.priority);
    const bool fits = failed == std::errc{} && read.priority <= highest_priority && is_guid(guid);
    return fits && read.text() == name ? std::optional(std::move(read)) : std::nullopt;
}

std::vector<reachable_candidate> reachable(const std::vector<std::string>& queue,
                                           const std::vector<std::string>& mailboxes) {
    std::map<std::string, std::string> by_guid;
    for (const std::string& name : mailboxes) {
        if (const auto mailbox = read_mailbox_name(name)) {
            by_guid[mailbox->guid] = name;
        }
    }
    std::vector<reachable_candidate> all;
    for (const std::string& name : in_order(queue, latch_names)) {
        const auto found = by_guid.find(std::string(guid_in(name)));
        if (found != by_guid.end()) {
            all.push_back({name, found->second});
        }
    }
    return all;
}

std::string write_mailbox_message(const mailbox_message& l) {
    json message = json::object();
    for (const auto& [is, key] : keys) {
        if (is == l.is) {
            message[key] = l.who;
        }
    }
    return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

mailbox_message read_mailbox_message(std::string_view data) {
    const json message = read_untrusted(data, longest_message, 1);
    if (!message.is_object()) {
        return {};
    }
    for (const auto& [is, key] : keys) {
        if (auto who = text_in(message, key, longest_message)) {
            const bool fits =
                is == kind::resign ? who->size() <= longest_leader_id : !guid_in(*who).empty();
            return fits ? mailbox_message{is, *std::move(who)} : mailbox_message{};
        }
    }
    return {};
}

}  // namespace latchkey::inline v0
