#include "guardian/guarded_session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

namespace latchkey::inline v0 {
namespace {

// Both ends are of one version, and of one host: numbers are as they are in memory.
struct fixed_part {
    std::uint64_t client = 0;
    std::int64_t id = 0;
    std::int64_t timeout = 0;  // in milliseconds
    std::array<char, 16> password{};
    std::uint32_t servers = 0;
    std::uint8_t encrypted = 0;
    std::uint8_t system_authorities = 0;
};

class text_reader {
public:
    explicit text_reader(std::string_view rest) : rest_(rest) {}

    [[nodiscard]] std::optional<std::string> next() {
        const auto end = rest_.find('\0');
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        std::string text(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return text;
    }

    [[nodiscard]] bool is_over() const noexcept { return rest_.empty(); }

private:
    std::string_view rest_;
};

constexpr std::array tls_texts{&tls_options::ca_file,
                               &tls_options::certificate_file,
                               &tls_options::key_file,
                               &tls_options::server_name};

}  // namespace

std::string packed(const guarded_session& s) {
    const fixed_part fixed{.client = s.client,
                           .id = s.claim.id,
                           .timeout = s.claim.timeout.count(),
                           .password = s.claim.password,
                           .servers = static_cast<std::uint32_t>(s.servers.size()),
                           .encrypted = static_cast<std::uint8_t>(s.tls ? 1 : 0),
                           .system_authorities = static_cast<std::uint8_t>(
                               s.tls && s.tls->system_authorities ? 1 : 0)};
    std::string bytes(sizeof fixed, '\0');
    std::memcpy(bytes.data(), &fixed, sizeof fixed);
    for (const session_options::endpoint& server : s.servers) {
        bytes += server.host + '\0' + std::to_string(server.port) + '\0';
    }
    for (const auto text : tls_texts) {
        bytes += s.tls ? (*s.tls).*text + '\0' : std::string();
    }
    return bytes.size() <= longest_guardian_message ? bytes : std::string();
}

std::optional<guarded_session> unpacked(std::string_view bytes) {
    fixed_part fixed;
    if (bytes.size() < sizeof fixed) {
        return std::nullopt;
    }
    std::memcpy(&fixed, bytes.data(), sizeof fixed);
    guarded_session s{
        .client = fixed.client,
        .claim = {fixed.id, fixed.password, std::chrono::milliseconds(fixed.timeout)}};
    text_reader rest(bytes.substr(sizeof fixed));
    for (std::uint32_t i = 0; i < fixed.servers; ++i) {
        auto host = rest.next();
        const auto port = rest.next();
        if (!host || !port) {
            return std::nullopt;
        }
        s.servers.push_back({*std::move(host),
                             static_cast<std::uint16_t>(std::strtoul(port->c_str(), nullptr, 10))});
    }
    if (fixed.encrypted != 0) {
        s.tls.emplace().system_authorities = fixed.system_authorities != 0;
        for (const auto text : tls_texts) {
            auto value = rest.next();
            if (!value) {
                return std::nullopt;
            }
            (*s.tls).*text = *std::move(value);
        }
    }
    return rest.is_over() ? std::optional(std::move(s)) : std::nullopt;
}

}  // namespace latchkey::inline v0
