#pragma once

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "lock_fixture.hpp"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace latchkey::test {

/// What tests of the commands share that look at locks: two clients that hold and wait, and the
/// znodes of other libraries, put by hand below the path.
class seeing_fixture : public lock_fixture {
protected:
    seeing_fixture() : lock_fixture(real_ensemble::shared().connect_string()) {}

    /// "latchkey COMMAND OPTIONS PATHS", with the servers in the environment.
    std::unique_ptr<program> run(const char* command,
                                 words arguments,
                                 program_surroundings around = {}) const {
        catch_up(one_);
        arguments.insert(arguments.begin(), command);
        around.environment.emplace("LATCHKEY_SERVERS", first_server());
        return std::make_unique<program>(arguments, around);
    }

    /// The programs and the clients of a test use one server, so that the programs see what the
    /// test has done.
    [[nodiscard]] std::string first_server() const {
        return servers_.substr(0, servers_.find(','));
    }

    void put(const std::string& path,
             const std::string& data = {},
             create_mode mode = create_mode::persistent,
             const acl& access = open_unsafe_acl()) const {
        const reply r =
            blocking_read(*client_core::of(one_), request::create(path, data, mode, access));
        failure_of(r.code, path).raise_unless(r.ok());
    }

    static std::vector<nlohmann::json> objects_in(const std::string& text) {
        std::vector<nlohmann::json> all;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            all.push_back(nlohmann::json::parse(line));
        }
        return all;
    }

    client one_ = client::connect(first_server());
    client two_ = client::connect(first_server());
};

inline const std::string curators_name = "_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-0000000001";
inline const std::string gos_name = "_c_0f8fad5bd9cb469fa16570867728950e-lock-0000000002";
inline const std::string kazoos_name = "0f8fad5bd9cb469fa16570867728950e__lock__0000000003";

}  // namespace latchkey::test
