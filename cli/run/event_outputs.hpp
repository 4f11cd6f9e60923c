#pragma once

#include <latchkey/client.hpp>
#include <latchkey/client_options.hpp>

#include "options/run_options.hpp"
#include "output/status_output.hpp"

#include <memory>

namespace latchkey::cli {

/// Writes what --audit and --metrics-file ask for.
///
/// The audit has one JSON object a line for each grant, release and loss, with the wall clock's
/// time: appended to a file by one write each, so that several processes may share it, or sent to
/// syslog. The file of metrics is for node_exporter's textfile collector: it is replaced as a
/// whole, at most every five seconds and at the end.
class event_outputs {
public:
    /// Opens the files. Throws usage_error if that fails. Starts no thread. `output` must outlive
    /// the observer.
    event_outputs(const run_options& options, const status_output& output);
    ~event_outputs();
    event_outputs(const event_outputs&) = delete;
    event_outputs& operator=(const event_outputs&) = delete;

    /// `how` with an observer, if anything was asked for. It may outlive this object.
    [[nodiscard]] client_options observing(client_options how) const;

    /// Adds the stats of the client that has the observer.
    void watch(const client& c) const;

private:
    class writer;

    std::shared_ptr<writer> writer_;  ///< null if nothing was asked for
};

}  // namespace latchkey::cli
