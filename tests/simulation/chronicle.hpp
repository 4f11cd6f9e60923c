#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/server/transaction.hpp"
#include "history.hpp"
#include "stage.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::simulation {

/// Writes down what happens in a run, as the history that the rules of tests/history judge when the
/// run is over. On the loop only.
class chronicle {
public:
    chronicle(stage& s, history::layout l) : stage_(s) {
        told_.laid_out = l;
        told_.limit = l == history::layout::rounds ? s.what.wanted : s.what.permits;
    }

    // What the ensemble shows.
    void received(const model::packet& p);
    void committed(const model::transaction& t);

    /// A call begins. `data` is what it writes to its znodes, if these tell whose they are. Returns
    /// the number of its turn.
    std::size_t begins(int client, history::wish what, const std::string& data = {});

    [[nodiscard]] history::turn& turn(std::size_t number) { return told_.turns.at(number); }

    /// Now, and after all that was written before.
    [[nodiscard]] duration moment();

    [[nodiscard]] bool is_of(history::layout l) const { return told_.laid_out == l; }

    /// The verdict on all of it; `quiet`: no fault has met it.
    [[nodiscard]] history::verdict judged(bool quiet);

private:
    void note_place(const model::change& created);

    stage& stage_;
    history::history told_;
    duration last_{};
    std::map<std::string, duration> asked_;  ///< by path: when a client asked to create it first
    /// By their data: when each began, by the clock of the run, and its number.
    std::map<std::string, std::vector<std::pair<duration, std::size_t>>> turns_;
};

}  // namespace latchkey::simulation
