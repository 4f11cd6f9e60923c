#pragma once

#include "command_fixture.hpp"
#include "development_servers.hpp"

namespace latchkey::test {

/// What tests of the commands share that act: locks on development servers.
class acting_fixture : public command_fixture {
protected:
    acting_fixture() : command_fixture(development_servers()) {}
};

}  // namespace latchkey::test
