#include "leader_acts.hpp"

#include "election_judge.hpp"
#include "plan.hpp"
#include "program.hpp"
#include "register_write.hpp"

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::simulation {

void transact(program& by, const candidacy& c, bool once) {
    const held& h = *c.term;
    deal d;
    d.by = by.record();
    d.who = c.who;
    d.directory = h.directory;
    d.token = h.token;
    d.places = {h.place};
    d.once = once;
    write_to_register(by.judge_, std::move(d), c.handle);
}

void proclaim(program& by, const candidacy& c) {
    leader_log& elections = static_cast<election_judge&>(by.judge_).elections();
    const std::string data = elections.proclaims(by.record(), c.who);
    c.handle.async_proclaim(data,
                            [&elections, data](std::error_code ec) { elections.told(data, ec); });
}

}  // namespace latchkey::simulation
