#include "record.hpp"

#include <array>
#include <cerrno>
#include <chrono>

#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>

namespace latchkey {
namespace {

using json = nlohmann::json;

// Escaping makes at most six bytes of one: three such fields, and what stands around them, fit into
// a record.
constexpr std::size_t longest_field = 20;

std::string cut(std::string text) {
    if (text.size() > longest_field) {
        text.resize(longest_field);
    }
    return text;
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? cut(name.data()) : std::string();
}

std::string user_name() {
    std::array<char, 1024> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
        found != nullptr) {
        return cut(found->pw_name);
    }
    return std::to_string(::geteuid());
}

std::string text_of(const json& record, const char* key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number_of(const json& record, const char* key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

record_writer::record_writer(std::string_view mode) {
    const json record{{"host", host_name()},
                      {"pid", ::getpid()},
                      {"user", user_name()},
                      {"program", cut(program_invocation_short_name)},
                      {"mode", mode}};
    head_ = record.dump(-1, ' ', true, json::error_handler_t::replace);
    head_.pop_back();
    head_ += ",\"since\":";
}

std::string record_writer::write() const {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return head_ +
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) + '}';
}

std::optional<identity> read_record(std::string_view data) {
    if (data.size() > longest_record) {
        return std::nullopt;
    }
    const json record = json::parse(data, nullptr, false);
    if (!record.is_object() || !record.contains("host") || !record.contains("pid")) {
        return std::nullopt;
    }
    return identity{.host = text_of(record, "host"),
                    .user = text_of(record, "user"),
                    .program = text_of(record, "program"),
                    .pid = number_of(record, "pid"),
                    .since = std::chrono::system_clock::time_point(
                        std::chrono::milliseconds(number_of(record, "since"))),
                    .mode = text_of(record, "mode")};
}

}  // namespace latchkey
