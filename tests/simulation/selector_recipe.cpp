#include "selector_recipe.hpp"

#include <latchkey/error.hpp>

#include "leader_log.hpp"
#include "observer_worker.hpp"
#include "program.hpp"
#include "queue/participant_record.hpp"
#include "selector_judge.hpp"
#include "selector_worker.hpp"
#include "stage.hpp"
#include "strange_candidate.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace latchkey::simulation {

std::unique_ptr<used_object> selector_recipe::make(stage&,
                                                   client& c,
                                                   const std::vector<std::string>& paths) const {
    return make_used_mutex(c, paths.front());
}

std::shared_ptr<caller> selector_recipe::make_caller(program& of,
                                                     std::size_t object,
                                                     std::string name) const {
    const plan& p = of.stage_.what;
    if (of.stage_.random("make_caller").chance(p.observing)) {
        return std::make_shared<observer_worker>(of, object, std::move(name));
    }
    if (of.stage_.random("make_caller").chance(p.strangers)) {
        return std::make_shared<strange_candidate>(of, object, std::move(name));
    }
    if (of.stage_.random("make_caller").chance(p.locking)) {
        return lock_recipe::make_caller(of, object, std::move(name));
    }
    return std::make_shared<selector_worker>(of, object, std::move(name));
}

std::unique_ptr<judge> selector_recipe::judge_of(stage& s) const {
    return std::make_unique<selector_judge>(s);
}

void selector_recipe::adapt(plan& p, model::random_source& random) const {
    p.observing = random.chance(0.5) ? 0 : 0.15 * std::exp2(random.below(2));
    p.strangers = random.chance(0.7) ? 0 : 0.2;
    p.locking = random.chance(0.5) ? 0 : 0.3;
    p.scribbles = random.chance(0.8) ? 0 : 0.02;
    p.revocations = random.chance(0.7) ? 0 : 0.1;
    if (p.observing > 0 && random.chance(0.1)) {
        p.weights = {};  // to count what observers ask for
    }
}

/// Somebody asks the first of the queue to give way, as Curator's Revoker does; or puts data of his
/// own where the record is.
void selector_recipe::meanwhile(stage& s, const plan::object& o) const {
    if (s.calm) {
        return;
    }
    try {
        if (s.random("meanwhile").chance(s.what.scribbles)) {
            s.servers.set(o.directory, s.random("meanwhile").chance(0.7) ? foreign_data : "");
        }
        if (s.random("meanwhile").chance(s.what.revocations)) {
            const auto names = s.servers.children(o.directory);
            if (!names.empty()) {
                s.last_cut = std::max(s.last_cut, s.now());  // a watch is set anew
                s.servers.set(o.directory + '/' + names[s.random("meanwhile").below(names.size())],
                              std::string(revocation_request));
            }
        }
    } catch (const error&) {  // it is not there yet, or there is no leader
    }
}

void selector_recipe::restore(stage& s, const std::string& directory) const {
    recipe_of(recipe_kind::leader_latch).restore(s, directory);
}

}  // namespace latchkey::simulation
