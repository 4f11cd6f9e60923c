#include "fork_table.hpp"

#include <algorithm>

namespace latchkey::test {

using namespace std::chrono_literals;

forked_world::forked_world() {
    static_cast<void>(c.wait_connected(60s));
    g.emplace(guarding);
    locked.lock();
    locked_recursive.lock();
    locked_rw.lock();
    read_rw.lock_shared();
    locked_multi.lock();
    kept.acquire().release();
}

void forked_world::wait(const std::function<void(std::function<void()> done)>& begin) const {
    const auto ended = std::make_shared<blocking_result<bool>>();
    begin([ended] { ended->set(true); });
    if (!in_child) {
        static_cast<void>(ended->get_for(60s));
    }
}

fork_rows fork_table() {
    fork_rows rows;
    add_rows_of_clients(rows);
    add_rows_of_holds(rows);
    add_rows_of_locks(rows);
    add_rows_of_shared_mutexes(rows);
    add_rows_of_leaders(rows);
    add_rows_of_meetings(rows);
    add_rows_of_ensembles(rows);
    const auto ends = [](const fork_row& r) {
        const std::string name = r.member.substr(r.member.find("::") + 2);
        return name.starts_with('~') || name == "release" || name == "release_and_wait" ||
               name == "close" || name == "close_for" || name == "unlock" || name == "operator=" ||
               name == "leave" || name.starts_with("unlock_") || name.starts_with("try_unlock_");
    };
    std::stable_partition(rows.begin(), rows.end(), [&](const fork_row& r) { return !ends(r); });
    return rows;
}

}  // namespace latchkey::test
