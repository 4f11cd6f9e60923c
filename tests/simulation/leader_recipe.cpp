#include "leader_recipe.hpp"

#include <latchkey/error.hpp>

#include "leader_judge.hpp"
#include "leader_worker.hpp"
#include "observer_worker.hpp"
#include "program.hpp"
#include "stage.hpp"
#include "strange_candidate.hpp"

#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace latchkey::simulation {
namespace {

constexpr std::size_t guid_characters = 36;

}  // namespace

std::shared_ptr<caller> leader_recipe::make_caller(program& of,
                                                   std::size_t object,
                                                   std::string name) const {
    if (of.stage_.random("make_caller").chance(of.stage_.what.observing)) {
        return std::make_shared<observer_worker>(of, object, std::move(name));
    }
    if (of.stage_.random("make_caller").chance(of.stage_.what.strangers)) {
        return std::make_shared<strange_candidate>(of, object, std::move(name));
    }
    return std::make_shared<leader_worker>(of, object, std::move(name));
}

std::unique_ptr<judge> leader_recipe::judge_of(stage& s) const {
    return std::make_unique<leader_judge>(s);
}

void leader_recipe::adapt(plan& p, model::random_source& random) const {
    p.strangers = random.chance(0.5) ? 0 : 0.1 * std::exp2(random.below(3));
    p.preferring = random.chance(0.4) ? 0 : 0.3 * std::exp2(random.below(2));
    p.scribbles = random.chance(0.7) ? 0 : 0.02;
    p.petitions = p.preferring == 0 || random.chance(0.5) ? 0 : 0.1;
    p.observing = random.chance(0.5) ? 0 : 0.15 * std::exp2(random.below(2));
}

namespace {

/// A record as an earlier leader may have written it.
std::string earlier(const std::string& data) {
    auto record = nlohmann::json::parse(data, nullptr, false);
    if (!record.is_object() || !record.contains("leader")) {
        return foreign_data;
    }
    record["token"] = 1;
    return record.dump();
}

}  // namespace

/// Somebody puts data of his own where the record is, or an earlier record, or empties it.
void leader_recipe::meanwhile(stage& s, const plan::object& o) const {
    if (s.calm || !s.random("meanwhile").chance(s.what.scribbles)) {
        return;
    }
    try {
        const auto what = s.random("meanwhile").below(10);
        const auto there = s.servers.get(o.directory);
        s.servers.set(o.directory,
                      what < 5            ? foreign_data
                      : what < 7 && there ? earlier(there->data)
                                          : std::string());
    } catch (const error&) {  // it is not there yet, or there is no leader
    }
}

/// His mailbox, perhaps.
std::string leader_recipe::victim(stage& s, const participant& p) const {
    constexpr std::string_view before = "_c_";
    if (p.attempt.starts_with(before) && s.what.preferring > 0 && s.random("victim").chance(0.3)) {
        const std::string peers = p.directory + "-peers";
        const std::string guid = p.attempt.substr(before.size(), guid_characters);
        for (const std::string& mailbox : s.servers.children(peers)) {
            if (mailbox.ends_with(guid)) {
                return peers + '/' + mailbox;
            }
        }
    }
    return p.path;
}

void leader_recipe::restore(stage& s, const std::string& directory) const {
    const auto znode = s.servers.get(directory);
    if (znode && znode->data == foreign_data) {
        s.servers.set(directory, "");
    }
}

}  // namespace latchkey::simulation
