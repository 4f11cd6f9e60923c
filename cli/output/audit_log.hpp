#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace latchkey::cli {

/// Where --audit writes: one JSON object a line. A file gets a line by one write, so several
/// processes may share it; other users may not read it. "syslog" is the system's log, if there is
/// one: facility LOG_AUTH, priority LOG_NOTICE, program latchkey. LOG_AUTH, because the lines are
/// about who has what, and are kept longer than others; not LOG_AUTHPRIV, because there is no
/// secret in them.
class audit_log {
public:
    /// A file, which is made if it is not there, or "syslog". Throws usage_error if it cannot be
    /// written, or if another user may have put it, or a link, there.
    explicit audit_log(std::string to);
    ~audit_log();
    audit_log(const audit_log&) = delete;
    audit_log& operator=(const audit_log&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Adds the time, the process and its user to the record. False, with errno, if it is not
    /// written.
    [[nodiscard]] bool write(std::chrono::system_clock::time_point at, nlohmann::json record);

private:
    const std::string name_;
    int file_ = -1;      ///< -1: the system's log
    bool torn_ = false;  ///< only a part of the last record was written
};

/// Writes the whole text at once; false, with errno, if that fails. `torn` becomes whether only a
/// part was written, unless nothing was.
[[nodiscard]] bool write_at_once(int file, std::string_view text, bool* torn = nullptr);

/// usage_error for an option whose file cannot be written.
[[noreturn]] void refuse_output(const char* option,
                                const std::string& name,
                                const std::string& why);

}  // namespace latchkey::cli
