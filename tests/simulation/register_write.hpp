#pragma once

#include <latchkey/transaction.hpp>

#include "judge.hpp"
#include "plan.hpp"

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::simulation {

/// Writes the number of the deal to the register, under the guard of a hold or of a term, and tells
/// the judge what became of it. On the loop only.
template <class Guarded>
void write_to_register(judge& by, deal d, Guarded& guarded) {
    const std::string path = register_path + d.by->chroot.size();
    const std::string token = d.token.to_string();
    const bool once = d.once;
    const std::uint64_t number = by.deals(std::move(d));
    const std::vector<operation> change{operation::set(path, std::to_string(number) + " " + token)};
    if (once) {
        guarded.async_transact_once(path + '-' + std::to_string(number),
                                    change,
                                    [&by, number](std::error_code ec, bool applied) {
                                        by.told(number, ec, applied || ec);
                                    });
    } else {
        guarded.async_transact(
            change, [&by, number](std::error_code ec, const std::vector<operation_result>&) {
                by.told(number, ec);
            });
    }
}

}  // namespace latchkey::simulation
