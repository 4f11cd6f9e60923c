#include "audit.hpp"

#include "text/escape.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <pwd.h>
#include <syslog.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

/// Of text that is escaped already.
std::string in_quotes(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\\\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string name_of_user(uid_t uid) {
    std::array<char, 1024> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    const bool known =
        ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
    return known ? found->pw_name : std::to_string(uid);
}

}  // namespace

std::string audit_text(const audit_entry& e) {
    const uid_t uid = ::getuid();
    return fmt::format("{} node={} owner={} session={} by={} uid={} reason={}",
                       e.action,
                       in_quotes(escaped(e.node)),
                       in_quotes(e.owner),
                       in_quotes(e.session),
                       in_quotes(escaped(name_of_user(uid))),
                       uid,
                       in_quotes(escaped(e.reason)));
}

void write_audit(const audit_entry& e) {
    ::openlog("latchkey", LOG_PID, LOG_AUTH);
    ::syslog(LOG_AUTH | LOG_NOTICE, "%s", audit_text(e).c_str());
    ::closelog();
}

}  // namespace latchkey::cli
