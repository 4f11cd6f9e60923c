#include "leader_acts.hpp"

#include <latchkey/transaction.hpp>

#include "election_judge.hpp"
#include "plan.hpp"
#include "program.hpp"

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::simulation {

void transact(program& by, const candidacy& c) {
    const held& h = *c.term;
    deal d;
    d.by = by.record();
    d.who = c.who;
    d.directory = h.directory;
    d.token = h.token;
    d.places = {h.place};
    const std::uint64_t number = by.judge_.deals(std::move(d));
    c.handle.async_transact(
        {operation::set(register_path + by.record()->chroot.size(),
                        std::to_string(number) + " " + h.token.to_string())},
        [&j = by.judge_, number](std::error_code ec, const std::vector<operation_result>&) {
            j.told(number, ec);
        });
}

void proclaim(program& by, const candidacy& c) {
    leader_log& elections = static_cast<election_judge&>(by.judge_).elections();
    const std::string data = elections.proclaims(by.record(), c.who);
    c.handle.async_proclaim(data,
                            [&elections, data](std::error_code ec) { elections.told(data, ec); });
}

}  // namespace latchkey::simulation
