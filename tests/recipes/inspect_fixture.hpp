#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/inspect.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "recipe_test.hpp"
#include "session/failure.hpp"
#include "waiter.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace latchkey::test {

/// Creates one znode; its parent exists.
inline void put_znode(const client& c,
                      const std::string& path,
                      const std::string& data,
                      create_mode mode,
                      const acl& access = open_unsafe_acl()) {
    const reply r = blocking_read(*client_core::of(c), request::create(path, data, mode, access));
    failure_of(r.code, path).raise_unless(r.ok());
}

/// Looks at `path_`, where other libraries' znodes are put by hand.
class InspectTest : public RecipeTest {
protected:
    /// A znode of another client, below the path.
    void put(const std::string& name,
             const std::string& data = {},
             create_mode mode = create_mode::ephemeral,
             const acl& access = open_unsafe_acl()) {
        put_znode(others_, path_ + '/' + name, data, mode, access);
    }

    void make_directory(const std::string& data = {}) { world_->create(path_, data); }

    [[nodiscard]] queue_view look() {
        catch_up(zk_);
        return inspect(zk_, path_);
    }

    static std::vector<std::string> names(const queue_view& v) {
        std::vector<std::string> all;
        for (const participant& p : v.participants) {
            all.push_back(p.name);
        }
        return all;
    }

    /// "NAME LIBRARY", and "holds" if it does.
    static std::vector<std::string> described(const queue_view& v) {
        std::vector<std::string> all;
        for (const participant& p : v.participants) {
            all.push_back(p.name + ' ' + to_string(p.library) + (p.holding ? " holds" : ""));
        }
        return all;
    }

    /// The positions of those that hold.
    static std::vector<std::size_t> holders(const queue_view& v) {
        std::vector<std::size_t> all;
        for (const participant& p : v.participants) {
            if (p.holding) {
                all.push_back(p.position);
            }
        }
        return all;
    }

    /// Nobody has this password.
    static acl nobodys() { return {{"digest", "nobody:0000000000000000000000000000"}}; }

    client zk_ = connect();
    client others_ = connect();
};

inline const std::string some_uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
inline const std::string other_uuid = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
inline const std::string third_uuid = "16fd2706-8baf-433b-82eb-8c7fada847da";
inline const std::string plain_uuid = "0f8fad5bd9cb469fa16570867728950e";

}  // namespace latchkey::test
