#include <latchkey/client.hpp>
#include <latchkey/lock_tree.hpp>
#include <latchkey/wait_graph.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

// latchkey_lock_tree SERVERS [LOCKS [PARTICIPANTS]]: how long a walk over so many locks takes, each
// with so many participants. Leaves the znodes below /bench-tree for the next run.

namespace {

using latchkey::operation;

/// Creates what does not exist yet, a hundred locks in a transaction.
void put_locks(const latchkey::client& zk, int locks, int participants) {
    if (!zk.exists("/bench-tree")) {
        zk.transact({operation::create("/bench-tree", "")});
    }
    const int present = static_cast<int>(zk.children("/bench-tree").size());
    std::vector<operation> batch;
    for (int i = present; i < locks; ++i) {
        const std::string path = "/bench-tree/lock" + std::to_string(i);
        batch.push_back(operation::create(path, ""));
        for (int k = 0; k < participants; ++k) {
            std::string number = std::to_string(k);
            number.insert(0, 10 - number.size(), '0');
            batch.push_back(operation::create(
                path + "/_c_28fb5461-c03d-46bb-859e-7deb64444559-lock-" + number,
                R"({"host":"db3","pid":7257,"program":"bench","user":"backup","mode":"exclusive"})"));
        }
        if (i % 100 == 99 || i + 1 == locks) {
            zk.transact(std::exchange(batch, {}));
        }
    }
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) {
        std::cerr << "usage: latchkey_lock_tree SERVERS [LOCKS [PARTICIPANTS]]\n";
        return 64;
    }
    const int locks = count > 2 ? std::atoi(words[2]) : 10'000;
    const int participants = count > 3 ? std::atoi(words[3]) : 10;
    const auto zk = latchkey::client::connect(words[1]);
    put_locks(zk, locks, participants);
    for (int run = 1; run <= 3; ++run) {
        std::vector<latchkey::queue_view> views;
        std::size_t found = 0;
        const auto begin = std::chrono::steady_clock::now();
        const auto end =
            latchkey::walk_locks(zk, "/bench-tree", [&](const latchkey::lock_tree_entry& e) {
                found += e.view.participants.size();
                views.push_back(e.view);
            });
        const double walked = seconds_since(begin);
        const auto deadlocks = latchkey::find_deadlocks(views);
        std::cout << end.locks << " locks, " << found << " participants: " << walked << " s, "
                  << static_cast<double>(end.znodes) / walked << " znodes/s; deadlocks "
                  << deadlocks.size() << ", " << seconds_since(begin) - walked << " s\n";
    }
    return 0;
}
