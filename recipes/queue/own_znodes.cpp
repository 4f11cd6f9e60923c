#include "queue/own_znodes.hpp"

#include "client/until_answered.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

task<result_code> create_records(client_core& core, const queue_recipe& recipe, own_znodes& of) {
    std::vector<request> all;
    for (const std::string& own : of.paths()) {
        all.push_back(request::check(own));
        of.records.push_back(
            join_path(parent_of(own), name_of_delay(recipe.options().lock_delay, own)));
    }
    for (const std::string& record : of.records) {
        all.push_back(request::create(
            record, recipe.data(recipe.mode), create_mode::persistent, *recipe.access));
    }
    auto writing = until_answered(core, request::multi(std::move(all)));
    const reply r = co_await writing;
    // No other participant has this number: it was done before, and the answer was lost.
    co_return r.code == result_code::node_exists ? result_code::ok : r.code;
}

}  // namespace latchkey::inline v0
