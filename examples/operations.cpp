// What an operator's tools and a service's health check ask of Latchkey. docs/runbook.md,
// docs/troubleshooting.md, docs/security.md and docs/operations.md quote the regions.
//
//     example_operations HOST:PORT[,HOST:PORT...]
#include <latchkey/acl.hpp>
#include <latchkey/client.hpp>
#include <latchkey/error.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/inspect.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/tls.hpp>
#include <latchkey/transaction.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

using namespace std::chrono_literals;

// [escape]
/// For a terminal: everything but printable ASCII is replaced.
std::string printable(std::string_view text) {
    std::string safe(text.substr(0, 512));
    std::replace_if(
        safe.begin(), safe.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return safe;
}

// [/escape]

// [log]
latchkey::client connect(const std::string& servers) {
    latchkey::client_options how;
    how.name = "billing";
    how.log = [](const latchkey::log_record& r) {
        if (r.level >= latchkey::log_level::warning) {
            std::cerr << r.client << ' ' << r.id << ": " << printable(r.text) << '\n';
        }
    };
    return latchkey::client::connect(servers, how);
}

// [/log]

// [credentials]
latchkey::client connect_as(const std::string& servers, const std::string& user_and_password) {
    latchkey::client_options how;
    how.auth = {{.scheme = "digest", .secret = user_and_password}};  // "user:password"
    how.access = latchkey::creator_only_acl();                       // the default with credentials
    return latchkey::client::connect(servers, how);
}

// [/credentials]

// [tls]
latchkey::client connect_encrypted(const std::string& servers) {
    latchkey::client_options how;
    how.tls = latchkey::tls_options{.ca_file = "/etc/latchkey/ca.pem",
                                    .certificate_file = "/etc/latchkey/backup.pem",
                                    .key_file = "/etc/latchkey/backup.key"};
    return latchkey::client::connect(servers, how);  // throws if a file cannot be used
}

// [/tls]

// [x509_access]
/// Two services share a lock. The ids are the subjects of their certificates.
latchkey::acl access_for_two_services() {
    return {{"x509", "CN=backup,O=Example", latchkey::permission::all},
            {"x509", "CN=restore,O=Example", latchkey::permission::all}};
}

// [/x509_access]

// [group_access]
/// `hash` is that of "team:password", as the servers know it.
latchkey::acl access_for_team(const std::string& hash) {
    return {{"digest", "team:" + hash, latchkey::permission::all}};
}

// [/group_access]

// [health]
/// For the health check of a service. Empty: healthy.
std::string sickness(const latchkey::client& zk) {
    if (zk.callback_running_for() > zk.session_timeout() / 10 + 1s) {
        return "a callback blocks the others";
    }
    switch (zk.state()) {
        case latchkey::connection_state::connecting:
        case latchkey::connection_state::suspended:
            return "no ZooKeeper server: " + zk.last_error();
        case latchkey::connection_state::lost:
            return "the ZooKeeper session is lost";
        case latchkey::connection_state::closed:
            return "the client is closed";
        default:
            return {};
    }
}
// [/health]

// [kinds]
enum class reaction { try_later, look_first, give_up };

reaction react_to(const std::error_code& ec) {
    if (ec == latchkey::error_kind::indeterminate) {  // first: it may be retryable as well
        return reaction::look_first;
    }
    return ec == latchkey::error_kind::retryable ? reaction::try_later : reaction::give_up;
}

// [/kinds]

// [inspect]
void show_queue(const latchkey::client& zk, const std::string& path) {
    const latchkey::queue_view queue = latchkey::inspect(zk, path);
    for (const auto& p : queue.participants) {
        std::cout << p.position << (p.holding ? " holds " : " waits ") << printable(p.path) << ' '
                  << printable(p.data) << '\n';
    }
    for (const std::string& name : queue.malformed) {
        std::cout << "blocks the queue: " << printable(name) << '\n';
    }
}

// [/inspect]

// [once]
/// False: this day's run was done before, by this process or another one. `/billing` and
/// `/billing/last` exist.
bool bill_once(latchkey::guard& g, const std::string& day) {
    return g.hold().transact_once(
        "/billing/" + day,
        {latchkey::operation::set("/billing/last", day, latchkey::operation::any_version)});
}

// [/once]

/// Creates the znodes of bill_once() in the first run.
void prepare(latchkey::client& zk) {
    using latchkey::operation;
    for (const char* path : {"/billing", "/billing/last"}) {
        if (!zk.exists(path)) {
            zk.transact({operation::create(path, "", operation::lifetime::persistent)});
        }
    }
}

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " SERVERS\n";
        return 2;
    }
    try {
        const auto zk = connect_as(argv[1], "example:secret");
        if (!zk.wait_connected(30s)) {
            std::cerr << "stopped: " << printable(sickness(zk)) << '\n';
            return 1;
        }
        const auto own = latchkey::acl(access_for_team("iGHDnZWh1rVn1Dc2ckS3f5DG3F8="));
        std::cout << own.size() << " identity may use the team's locks\n";

        auto service = connect(argv[1]);
        latchkey::mutex job(service, "/billing-lock");
        latchkey::guard g(job, 30s);
        show_queue(service, "/billing-lock");
        prepare(service);
        const auto day = g.token().to_string();  // a day that no run has had
        std::cout << "billed: " << bill_once(g, day) << ", again: " << bill_once(g, day) << '\n';
        std::cout << "healthy: " << sickness(service).empty() << '\n';
    } catch (const latchkey::error& e) {
        const bool later = react_to(e.code()) == reaction::try_later;
        std::cerr << "stopped: " << printable(e.what()) << (later ? ": try later\n" : "\n");
        return 1;
    } catch (const std::exception& e) {
        std::cerr << "stopped: " << printable(e.what()) << '\n';
        return 1;
    }
    return 0;
}
