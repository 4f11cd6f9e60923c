// The example of README.md.
//
//     example_readme HOST:PORT[,HOST:PORT...]
#include <iostream>

// [readme]
#include <latchkey/client.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>

using namespace std::chrono_literals;
using latchkey::operation;
void make_report(std::stop_token stop, latchkey::fencing_token token);  // yours

int main(int argc, char** argv) {
    auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181");
    latchkey::mutex nightly(zk, "/jobs/nightly");

    latchkey::guard g(nightly, 30s);          // throws if it is not acquired in 30 s
    make_report(g.hold().lost(), g.token());  // stops when the lock is lost
    g.hold().transact(                        // commits only while the lock is held
        {operation::create("/jobs/report-", "done", operation::lifetime::persistent_sequential)});
}  // released: the client that has waited longest is next

// [/readme]

void make_report(std::stop_token stop, latchkey::fencing_token token) {
    std::cout << (stop.stop_requested() ? "lost" : "making the report") << ", token " << token
              << '\n';
}
