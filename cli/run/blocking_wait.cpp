#include "run/blocking_wait.hpp"

#include "look/connection_report.hpp"
#include "options/connecting.hpp"
#include "output/exit_status.hpp"
#include "output/main_thread_queue.hpp"
#include "output/service_manager.hpp"
#include "output/signals.hpp"
#include "run/waiting_line.hpp"

#include <csignal>
#include <exception>
#include <optional>
#include <thread>

namespace latchkey::cli {

int wait_beside_signals(
    const program_options& options,
    const status_output& output,
    const std::function<bool(const client& c, const std::stop_token& stop)>& call) {
    const signals arrived;
    main_thread_queue queue;
    client zk = client::connect(options.servers, client_options_of(options, output));
    connection_report connection(zk, queue, output);
    waiting_line line(zk, queue, output, options.path, waiting_line::about::nothing);
    std::optional<int> status;
    int ended_by = 0;
    line.begin();
    std::jthread calling([&](const std::stop_token& stop) {
        try {
            const bool done = call(zk, stop);
            queue.post(
                [&, done] { status = done ? exit_status::success : exit_status::not_acquired; });
        } catch (...) {
            queue.post([&, failure = std::current_exception()] {
                line.end();
                std::rethrow_exception(failure);
            });
        }
    });
    while (!status) {
        const bool quick = connection.poll_limit() >= 0 || line.poll_limit() >= 0;
        wait_readable({arrived.fd(), queue.fd()}, quick ? 500 : -1);
        while (const int signal = arrived.read()) {
            if (signal != SIGCONT) {
                ended_by = signal;
                calling.request_stop();
            }
        }
        queue.run();
        if (!status && ended_by == 0) {
            connection.report_trouble();
            line.refresh();
        }
    }
    line.end();
    calling.join();
    zk.close();
    return ended_by != 0 ? exit_status::of_signal(ended_by) : *status;
}

}  // namespace latchkey::cli
