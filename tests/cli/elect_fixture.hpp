#pragma once

#include <latchkey/leader_observer.hpp>

#include "lock_fixture.hpp"

#include <memory>
#include <sstream>
#include <string>

namespace latchkey::test {

/// What tests of `latchkey elect` share. The path is that of an election.
class elect_fixture : public lock_fixture {
protected:
    using lock_fixture::lock_fixture;

    /// "latchkey elect OPTIONS PATH REST".
    std::unique_ptr<program> elect(const words& options,
                                   const words& rest = {},
                                   const program_surroundings& around = {}) const {
        return start("elect", options, rest, around);
    }

    std::unique_ptr<program> elect_sh(const words& options, const std::string& script) const {
        return elect(options, {"--", "/bin/sh", "-c", script});
    }

    client& view() {
        if (!view_) {
            view_ = std::make_unique<client>(client::connect(servers_));
        }
        catch_up(*view_);
        return *view_;
    }

    /// In queue order, by their ids.
    words candidates() {
        words ids;
        for (const auto& one : leader_observer::participants(view(), path_)) {
            ids.push_back(one.data);
        }
        return ids;
    }

    [[nodiscard]] bool eventually_candidates(const words& expected) {
        return eventually([&] { return candidates() == expected; });
    }

    static words lines_of(const std::string& text) {
        words lines;
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);) {
            lines.push_back(line);
        }
        return lines;
    }

private:
    std::unique_ptr<client> view_;
};

}  // namespace latchkey::test
