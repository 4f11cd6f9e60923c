#pragma once

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "command_fixture.hpp"
#include "session/failure.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace latchkey::test {

/// What tests of the commands share that look at locks: two clients that hold and wait, and the
/// znodes of other libraries, put by hand below the path.
class seeing_fixture : public command_fixture {
protected:
    /// The programs and the clients of a test use one server, so that the programs see what the
    /// test has done.
    seeing_fixture() : command_fixture(every_server().substr(0, every_server().find(','))) {}

    static const std::string& every_server() { return real_ensemble::shared().connect_string(); }

    running_program run(const std::string& line, const program_surroundings& around = {}) const {
        catch_up(one_);
        return command_fixture::run(line, {}, around);
    }

    /// Puts a znode below the path.
    void put(const std::string& name,
             const std::string& data = {},
             create_mode mode = create_mode::persistent,
             const acl& access = open_unsafe_acl()) const {
        const reply r = blocking_read(*client_core::of(one_),
                                      request::create(path_ + name, data, mode, access));
        failure_of(r.code, path_ + name).raise_unless(r.ok());
    }

    void put_participant(const std::string& name, const std::string& data = {}) const {
        put('/' + name, data, create_mode::ephemeral);
    }

    /// A znode that the programs may not read.
    void put_secret(const std::string& name) const {
        put(name, {}, create_mode::persistent, {{"digest", "nobody:0000000000000000000000000000"}});
    }

    client one_ = client::connect(servers_);
    client two_ = client::connect(servers_);
};

inline const std::string curators_id = "_c_0f8fad5b-d9cb-469f-a165-70867728950e-";
inline const std::string curators_name = curators_id + "lock-0000000001";
inline const std::string gos_name = "_c_0f8fad5bd9cb469fa16570867728950e-lock-0000000002";
inline const std::string kazoos_name = "0f8fad5bd9cb469fa16570867728950e__lock__0000000003";

}  // namespace latchkey::test
