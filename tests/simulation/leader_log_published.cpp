#include <latchkey/error.hpp>

#include "leader_log.hpp"

#include <algorithm>
#include <utility>

// What leaders publish.

namespace latchkey::simulation {

std::string leader_log::proclaims(std::shared_ptr<client_record> by, std::string who) {
    std::string data = "state " + std::to_string(proclamations_.size());
    stage_.tell(who, " proclaims ", data);
    proclamation p;
    p.by = std::move(by);
    p.who = std::move(who);
    p.number = proclamations_.size() + 1;
    proclamations_.emplace(data, std::move(p));
    return data;
}

void leader_log::published(const std::string& data, election& e, bool by_another) {
    const std::size_t last = by_another ? 0 : e.last_proclaimed;
    e.last_proclaimed = last;
    const auto found = proclamations_.find(data);
    if (found == proclamations_.end()) {
        return;
    }
    proclamation& p = found->second;
    e.last_proclaimed = p.number;
    if (p.number < last && !e.touched) {
        stage_.broken("I9", p.who + " wrote over something newer: " + data);
    }
    if (p.refused) {
        stage_.broken("I9", p.who + " was told that this is not written: " + data);
    }
    if (++p.committed > 1 && !e.touched) {
        stage_.broken("I9", p.who + " wrote twice: " + data);
    }
}

void leader_log::told(const std::string& data, std::error_code ec) {
    proclamation& p = proclamations_.at(data);
    stage_.tell(p.who, " is told of ", data, ": ", ec.message());
    if (++p.told > 1) {
        return stage_.broken("I9", p.who + " was told twice of " + data);
    }
    if (!ec) {
        return p.committed > 0 ? void() : stage_.broken("I9", data + " was never written");
    }
    if (ec == errc::hold_lost) {
        p.refused = true;
        return p.committed == 0 ? void() : stage_.broken("I9", data + " was written all the same");
    }
    const bool touched = std::any_of(
        elections_.begin(), elections_.end(), [](const auto& e) { return e.second.touched; });
    const bool known = ec == errc::indeterminate || ec == errc::closed ||
                       (ec == errc::not_authorized && stage_.what.uses(fault::access_taken)) ||
                       (ec == errc::invalid_argument && touched);
    if (!known) {
        stage_.broken("I9", p.who + " could not proclaim, without a cause: " + ec.message());
    }
}

void leader_log::check_end() {
    for (const auto& [data, p] : proclamations_) {
        if (p.told == 0 && !p.by->crashed) {
            stage_.broken("I9", p.who + " was never told of " + data);
        }
    }
}

}  // namespace latchkey::simulation
