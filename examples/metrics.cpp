// Metrics of a client, in the text format of Prometheus.
//
//     metrics [SERVERS]
#include <latchkey/client.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/prometheus.hpp>

#include <iostream>
#include <string>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    try {
        // [metrics]
        // One time series for all accounts, not one for each.
        const latchkey::prometheus_metrics metrics([](std::string_view path) {
            return std::string(path.starts_with("/accounts/") ? "/accounts" : path);
        });
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181",
                                            {.observer = metrics.observer()});
        metrics.add(zk, "orders");
        // [/metrics]
        for (const char* account : {"/accounts/4711", "/accounts/4712"}) {
            latchkey::mutex m(zk, account);
            const latchkey::guard g(m, 30s);
        }
        zk.close();  // the observer has been told of everything now
        // What a program with prometheus::Exposer serves: exposer.RegisterCollectable(
        // metrics.collectable()).
        std::cout << metrics.text();
    } catch (const std::exception& e) {
        std::cerr << "metrics: " << e.what() << '\n';
        return 1;
    }
}
