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

void transact(program& by, const candidacy& c, bool once) {
    const held& h = *c.term;
    deal d;
    d.by = by.record();
    d.who = c.who;
    d.directory = h.directory;
    d.token = h.token;
    d.places = {h.place};
    d.once = once;
    const std::uint64_t number = by.judge_.deals(std::move(d));
    const std::string path = register_path + by.record()->chroot.size();
    const std::vector<operation> change{
        operation::set(path, std::to_string(number) + " " + h.token.to_string())};
    if (once) {
        c.handle.async_transact_once(path + '-' + std::to_string(number),
                                     change,
                                     [&j = by.judge_, number](std::error_code ec, bool applied) {
                                         j.told(number, ec, applied || ec);
                                     });
    } else {
        c.handle.async_transact(
            change,
            [&j = by.judge_, number](std::error_code ec, const std::vector<operation_result>&) {
                j.told(number, ec);
            });
    }
}

void proclaim(program& by, const candidacy& c) {
    leader_log& elections = static_cast<election_judge&>(by.judge_).elections();
    const std::string data = elections.proclaims(by.record(), c.who);
    c.handle.async_proclaim(data,
                            [&elections, data](std::error_code ec) { elections.told(data, ec); });
}

}  // namespace latchkey::simulation
