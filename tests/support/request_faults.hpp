#pragma once

#include <latchkey/ensemble.hpp>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace latchkey::test {

/// How a request ends without its outcome: with one of the codes that say nothing, although it was
/// applied or not, and with its connection or without.
struct request_fault {
    testing::ensemble::when applied{};
    int code = -4;
    bool connection_breaks = true;

    /// The next so many requests of the kind, in that session, end so.
    void meet(testing::ensemble& in,
              testing::ensemble::request_kind what,
              std::int64_t session,
              int times = 1) const {
        if (connection_breaks) {
            in.fail_next(what, applied, session, times, code);
        } else {
            in.refuse_next(what, code, session, times, applied);
        }
    }

    [[nodiscard]] bool is_applied() const { return applied == testing::ensemble::when::after; }

    [[nodiscard]] std::string name() const {
        return "Code" + std::to_string(-code) + (is_applied() ? "Applied" : "NotApplied") +
               (connection_breaks ? "Broken" : "Kept");
    }
};

inline void PrintTo(const request_fault& f, std::ostream* to) {
    *to << f.name();
}

/// Each code that leaves the outcome open, in each way.
[[nodiscard]] inline std::vector<request_fault> every_unknown_outcome() {
    std::vector<request_fault> all;
    for (const int code : {-4, -7, -2, -112, -116}) {
        for (const auto w : {testing::ensemble::when::before, testing::ensemble::when::after}) {
            for (const bool breaks : {true, false}) {
                all.push_back({w, code, breaks});
            }
        }
    }
    return all;
}

/// Names a test by what it is for.
inline constexpr auto named = [](const auto& p) { return p.param.name(); };

/// For the name of a test.
[[nodiscard]] inline std::string name_of(testing::ensemble::request_kind what) {
    constexpr const char* names[]{
        "Create", "Remove", "Get", "Exists", "List", "Set", "Multi", "Sync", "Any"};
    return names[static_cast<std::size_t>(what)];
}

}  // namespace latchkey::test
