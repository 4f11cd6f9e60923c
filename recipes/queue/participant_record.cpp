#include "queue/participant_record.hpp"

#include <latchkey/duration.hpp>

#include "loop/fork_guard.hpp"
#include "text/path.hpp"
#include "text/untrusted_json.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <utility>

#include <pwd.h>
#include <unistd.h>

namespace latchkey::inline v0 {
namespace {

using json = nlohmann::json;

// ",\"mode\":\"exclusive\"", ",\"since\":" and a time.
/// Users may have members of their own in it.
constexpr int deepest_record = 16;

constexpr std::size_t room_for_the_rest = 56;

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : std::string();
}

std::string user_name() {
    std::array<char, 1024> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
        found != nullptr) {
        return found->pw_name;
    }
    return std::to_string(::geteuid());
}

}  // namespace

record_writer::record_writer() {
    const std::string host = host_name();
    const std::string user = user_name();
    const std::string program = program_invocation_short_name;
    // Escaping makes up to six bytes of one, so how much fits is seen afterwards.
    for (std::size_t longest = longest_record; head_.empty(); longest /= 2) {
        const json record{{"host", host.substr(0, longest)},
                          {"pid", ::getpid()},
                          {"user", user.substr(0, longest)},
                          {"program", program.substr(0, longest)}};
        std::string text = record.dump(-1, ' ', true, json::error_handler_t::replace);
        if (text.size() + room_for_the_rest <= longest_record) {
            text.pop_back();
            head_ = std::move(text);
        }
    }
}

std::shared_ptr<const record_writer> record_writer::shared() {
    thread_local std::shared_ptr<const record_writer> known;
    thread_local std::uint64_t generation = 0;
    if (!known || generation != fork_generation()) {
        known = std::make_shared<record_writer>();
        generation = fork_generation();
    }
    return known;
}

std::string record_writer::write(std::string_view mode) const {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    return head_ + ",\"mode\":\"" + std::string(mode) + "\",\"since\":" + std::to_string(since) +
           '}';
}

std::string record_of(const direct_contact& contact) {
    std::string addresses;
    for (const std::string& a : contact.addresses) {
        addresses += (addresses.empty() ? "" : " ") + a;
    }
    return "{\"direct\":\"" + addresses + "\",\"key\":\"" + to_hex(contact.key) + "\"}";
}

std::string with_contact(std::string record, const direct_contact& contact) {
    const std::string more = ',' + record_of(contact).substr(1);
    const json own = record.size() + more.size() <= longest_record
                         ? read_untrusted(record, longest_record, deepest_record)
                         : json();
    if (own.is_object() && !own.empty()) {
        record.resize(record.find_last_of('}'));
        record += more;
    }
    return record;
}

std::optional<direct_contact> contact_in(std::string_view data) {
    const json record = read_untrusted(data, longest_record, deepest_record);
    if (!record.is_object()) {
        return std::nullopt;
    }
    const auto key = direct_key_from_hex(text_in(record, "key", longest_record).value_or(""));
    std::istringstream all(text_in(record, "direct", longest_record).value_or(""));
    direct_contact contact;
    for (std::string a; contact.addresses.size() < most_datagram_addresses && all >> a;) {
        contact.addresses.push_back(a);
    }
    if (!key || contact.addresses.empty()) {
        return std::nullopt;
    }
    contact.key = *key;
    return contact;
}

std::string default_id() {
    return host_name() + ':' + std::to_string(::getpid());
}

std::optional<identity> read_record(std::string_view data) {
    const json record = read_untrusted(data, longest_record, 1);
    if (!record.is_object() || !record.contains("host") || !record.contains("pid")) {
        return std::nullopt;
    }
    const auto text = [&record](const char* key) {
        return text_in(record, key, longest_record).value_or("");
    };
    return identity{.host = text("host"),
                    .user = text("user"),
                    .program = text("program"),
                    .pid = integer_in(record, "pid").value_or(0),
                    .since = wall_time(integer_in(record, "since").value_or(0)),
                    .mode = text("mode"),
                    .id = text("id")};
}

/// The clock counts finer than milliseconds: not every number is one of its times.
decltype(identity::since) wall_time(std::int64_t milliseconds) {
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            to_nanoseconds(std::chrono::milliseconds(milliseconds))));
}

participant participant_from(const std::string& path, const queue_markers& markers, reply znode) {
    auto who = read_record(znode.data);
    std::string name(name_of(path));
    const std::uint32_t sequence = place_of(name, markers).sequence;
    return {.name = std::move(name),
            .sequence = sequence,
            .session_id = znode.stat.ephemeral_owner,
            .czxid = znode.stat.czxid,
            .data = std::move(znode.data),
            .identified = std::move(who),
            .path = path,
            .ephemeral = znode.stat.ephemeral_owner != 0,
            .created = wall_time(znode.stat.ctime)};
}

const char* to_string(participant_library l) noexcept {
    constexpr std::array names{"unknown", "latchkey", "curator", "kazoo", "go"};
    const auto library = static_cast<std::size_t>(l);
    return library < names.size() ? names[library] : "unknown";
}

}  // namespace latchkey::inline v0
