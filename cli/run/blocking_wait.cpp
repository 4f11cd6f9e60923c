#include "run/blocking_wait.hpp"

#include "look/connection_report.hpp"
#include "options/connecting.hpp"
#include "output/exit_status.hpp"
#include "output/main_loop.hpp"
#include "output/signals.hpp"
#include "run/waiting_line.hpp"

#include <csignal>

namespace latchkey::cli {

int wait_beside_signals(
    const program_options& options,
    const status_output& output,
    const std::function<bool(const client& c, const std::stop_token& stop)>& call) {
    const signals arrived;
    main_loop loop(arrived);
    client zk = client::connect(options.servers, client_options_of(options, output));
    connection_report connection(zk, loop, output);
    waiting_line line(zk, loop, output, options.path, waiting_line::about::nothing);
    background_call calling(loop);
    int ended_by = 0;
    loop.on_signal([&](int signal) {
        if (signal != SIGCONT) {
            ended_by = signal;
            connection.report_no_trouble();
            line.end();
            calling.request_stop();
        }
    });
    line.begin();
    calling.start([&](const std::stop_token& stop) -> main_loop::task {
        const bool done = call(zk, stop);
        return
            [&loop, done] { loop.finish(done ? exit_status::success : exit_status::not_acquired); };
    });
    const int status = loop.run();
    line.end();
    calling.stop_and_join();
    zk.close();
    return ended_by != 0 ? exit_status::of_signal(ended_by) : status;
}

}  // namespace latchkey::cli
