#pragma once

#include "raw_session.hpp"
#include "uncopied.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

// What servers answer to raw requests, stated once (wire_contract_*_test.cpp) and held against the
// in-process ensemble's ports and against real servers. Where servers of different versions differ,
// the statement says so.

namespace latchkey::test {

/// Codes of answers.
constexpr std::int32_t marshalling_error = -5;
constexpr std::int32_t unimplemented = -6;
constexpr std::int32_t bad_arguments = -8;
constexpr std::int32_t no_node = -101;
constexpr std::int32_t no_auth = -102;
constexpr std::int32_t invalid_acl = -114;
constexpr std::int32_t auth_failed = -115;
constexpr std::int32_t no_watcher = -121;
constexpr std::int32_t reconfig_disabled = -123;

/// Servers that the contract is held against.
class wire_servers : public uncopied {
public:
    /// "host:port" of one of them.
    [[nodiscard]] virtual std::string address() = 0;

    /// Whether they are like 3.9.3 rather than like 3.8.0.
    [[nodiscard]] virtual bool newer() = 0;

    /// A path below the root that no other test uses.
    [[nodiscard]] virtual std::string fresh_path() = 0;
};

struct wire_parameter {
    std::string name;
    std::function<std::unique_ptr<wire_servers>()> make;
};

inline std::ostream& operator<<(std::ostream& out, const wire_parameter& p) {
    return out << p.name;
}

class WireContract : public ::testing::TestWithParam<wire_parameter> {
protected:
    WireContract() { EXPECT_EQ(main_.create(base_).code, 0); }

    [[nodiscard]] std::string at(const std::string& name) const { return base_ + '/' + name; }

    /// To the same server.
    [[nodiscard]] std::unique_ptr<raw_session> another() {
        return std::make_unique<raw_session>(servers_->address());
    }

    std::unique_ptr<wire_servers> servers_ = GetParam().make();
    const std::string base_ = servers_->fresh_path();
    raw_session main_{servers_->address()};
};

/// What a session sees of changes of znodes that it may not read.
class WireContractEvents : public WireContract {
protected:
    WireContractEvents() { EXPECT_EQ(main_.create(at("mark")).code, 0); }

    /// The events up to now. Events come in order, so none is on the way behind the mark's.
    std::vector<std::string> seen(raw_session& watcher) {
        EXPECT_EQ(watcher.read(opcode::get_data, at("mark"), true).code, 0);
        EXPECT_EQ(main_.set(at("mark"), "x").code, 0);
        std::vector<std::string> all = watcher.take_events();
        while (all.empty() || all.back() != "changed " + at("mark")) {
            if (watcher.read(opcode::exists, "/none").code != no_node) {
                ADD_FAILURE() << "no event of the mark";
                return all;
            }
            for (std::string& more : watcher.take_events()) {
                all.push_back(std::move(more));
            }
        }
        all.pop_back();
        return all;
    }
};

}  // namespace latchkey::test
