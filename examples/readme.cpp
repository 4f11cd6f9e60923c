// The example of README.md, which shows the part between the marks.
//
//     example_readme HOST:PORT[,HOST:PORT...]
#include <iostream>

// README begins
#include <latchkey/mutex.hpp>

using namespace std::chrono_literals;
using latchkey::operation;
void make_report(std::stop_token stop, latchkey::fencing_token token);  // yours

int main(int argc, char** argv) {
    auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181");
    latchkey::mutex nightly(zk, "/jobs/nightly");

    latchkey::hold h = nightly.try_acquire_for(30s);
    if (!h) {
        return 1;  // not acquired in 30 s: another client has it
    }
    make_report(h.lost(), h.fencing_token());
    // Commits only while the lock is held, else throws.
    h.transact(
        {operation::create("/jobs/report-", "done", operation::lifetime::persistent_sequential)});
}  // released: the client that has waited longest is next

// README ends

void make_report(std::stop_token stop, latchkey::fencing_token token) {
    std::cout << (stop.stop_requested() ? "lost" : "making the report") << ", token "
              << token.to_string() << '\n';
}
