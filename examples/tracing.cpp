// Spans of OpenTelemetry, one for each wait and one for each hold, as lines of OTLP JSON: what the
// collector's otlpjsonfile receiver reads. A program that links an OpenTelemetry SDK makes the same
// spans with it.
//
//     tracing [SERVERS]
#include <latchkey/client.hpp>
#include <latchkey/event.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/mutex.hpp>

#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <random>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string hex(std::uint64_t n) {
    std::ostringstream text;
    text << std::hex << std::setw(16) << std::setfill('0') << n;
    return text.str();
}

json attribute(const char* key, std::string value) {
    return {{"key", key}, {"value", {{"stringValue", std::move(value)}}}};
}

/// Prints a line for each wait and each hold that ends. On the observer's thread only.
class tracer {
public:
    void operator()(const latchkey::event& e) {
        using enum latchkey::event_kind;
        switch (e.what) {
            case acquired:
            case not_acquired:
                return print("latchkey.acquire", e, 2 * e.span);
            case released:
            case lost:
                return print("latchkey.hold", e, 2 * e.span + 1);
            default:
                return;
        }
    }

private:
    void print(const char* name, const latchkey::event& e, std::uint64_t id) {
        const auto nanoseconds = [](std::chrono::system_clock::time_point t) {
            return std::to_string(std::chrono::nanoseconds(t.time_since_epoch()).count());
        };
        const auto took = std::chrono::duration_cast<std::chrono::system_clock::duration>(e.took);
        json span{{"traceId", hex(program_) + hex(e.span)},
                  {"spanId", hex(id)},
                  {"name", name},
                  {"startTimeUnixNano", nanoseconds(e.at - took)},
                  {"endTimeUnixNano", nanoseconds(e.at)},
                  {"attributes",
                   {attribute("latchkey.path", std::string(e.path)),
                    attribute("latchkey.mode", to_string(e.mode)),
                    attribute("latchkey.token", e.token.to_string()),
                    attribute("latchkey.outcome", to_string(e.what))}}};
        if (e.what == latchkey::event_kind::lost || e.error) {
            span["status"] = {{"code", 2}, {"message", e.error ? e.error.message() : id_of(e.why)}};
        }
        const json scope{{"scope", {{"name", "latchkey"}}}, {"spans", {span}}};
        const json resource{{"attributes", {attribute("service.name", std::string(e.client))}}};
        const json all{
            {"resourceSpans", {{{"resource", resource}, {"scopeSpans", json::array({scope})}}}}};
        std::cout << all.dump() << '\n';
    }

    const std::uint64_t program_ =
        (std::uint64_t{std::random_device{}()} << 32U) + std::random_device{}();
};

}  // namespace

int main(int argc, char** argv) {
    try {
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181",
                                            {.observer = tracer(), .name = "orders"});
        latchkey::mutex m(zk, "/tracing/lock");
        for (int i = 0; i < 2; ++i) {
            const latchkey::guard g(m, 30s);
        }
        zk.close();
    } catch (const std::exception& e) {
        std::cerr << "tracing: " << e.what() << '\n';
        return 1;
    }
}
