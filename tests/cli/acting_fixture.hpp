#pragma once

#include <latchkey/client.hpp>

#include "lock_fixture.hpp"
#include "program.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

/// `latchkey dev-server`, one for a test program. Session timeouts are up to ten minutes, so that
/// nothing is free in the time of a test because a session has timed out.
inline std::string development_servers() {
    static program server({"dev-server", "--listen", "127.0.0.1:0", "--tick", "30"});
    EXPECT_TRUE(eventually([] { return server.out().find('\n') != std::string::npos; }));
    return server.out().substr(0, server.out().find('\n'));
}

/// What tests of the commands share that act: locks on development servers, and other commands.
class acting_fixture : public lock_fixture {
protected:
    acting_fixture() : lock_fixture(development_servers()) {}

    /// "latchkey WORDS...", with the servers in the environment.
    std::unique_ptr<program> run(const words& all) const {
        program_surroundings around;
        around.environment["LATCHKEY_SERVERS"] = servers_;
        around.environment["DIR"] = folder_.string();
        return std::make_unique<program>(all, around);
    }

    /// A latchkey that holds the lock, without a command.
    std::unique_ptr<program> holding(const words& options = {}) const {
        auto p = lock(options);
        EXPECT_TRUE(eventually([&] { return !p->out().empty(); })) << p->err();
        return p;
    }

    /// The name of the holder's znode.
    std::string holder() { return queue().holder().value().name; }

    client& view() {
        if (!view_) {
            view_ = std::make_unique<client>(client::connect(servers_));
        }
        catch_up(*view_);
        return *view_;
    }

private:
    std::unique_ptr<client> view_;
};

}  // namespace latchkey::test
