#pragma once

#include "meeting_judge.hpp"

#include <map>
#include <string>
#include <system_error>

namespace latchkey::simulation {

/// What a call asks of a barrier.
enum class barrier_wish : std::uint8_t { wait, set, remove };

/// A barrier's promises, beside those of every meeting_judge:
///
///   I1   Nobody passes who has waited while it stood, all the time since before his call, in the
///        order of the servers.
///   I2   Who is told that it is set, or gone, is told it when it was, at some moment of his call.
///   I8   When it is gone, everybody passes.
///   I9   Who only looks is told that it stands only if it does.
///   I11  A wait takes the requests that were promised, and none while it lasts.
class barrier_judge final : public meeting_judge {
public:
    using meeting_judge::meeting_judge;

    void told(call& c, barrier_wish what, std::error_code ec, bool done);

    [[nodiscard]] bool stands(const std::string& directory) const;

private:
    struct barrier_record {
        bool stands = false;
        duration since{-1};  ///< when that changed
    };

    void applied(const model::transaction& t, const participants& changed) override;

    [[nodiscard]] bool may_watch(const std::string&, std::int64_t) const override { return false; }

    [[nodiscard]] bool explains(const call& c, std::error_code ec) const override;

    /// In all of that time.
    [[nodiscard]] bool stood_since(const std::string& directory, duration begun) const;
    [[nodiscard]] bool was_gone_since(const std::string& directory, duration begun) const;
    void check_requests(const call& c);

    std::map<std::string, barrier_record> barriers_;  ///< by path
};

}  // namespace latchkey::simulation
