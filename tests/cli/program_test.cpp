#include <latchkey/version.hpp>

#include "development_servers.hpp"
#include "service_socket.hpp"

#include <csignal>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

running_program run(const words& all, const program_surroundings& around = {}) {
    return std::make_unique<program>(all, around);
}

running_program typed(const std::string& line) {
    return run(words_of(line), {.environment = {{"LATCHKEY_SERVERS", development_servers()}}});
}

struct wrong_use {
    std::string line;
    std::string says;  ///< the value, or the remedy
};

// A wrong use that options alone show is in the tests of the options.
TEST(Program, WrongUseNamesValueOrRemedy) {
    const std::string long_path = '/' + std::string(2000, 'a');
    const wrong_use all[]{
        {"", "Usage: latchkey COMMAND"},
        {"lokc", "'lokc'"},
        {"help nothing", "'nothing' is not a command"},
        {"help lock elect", "leave 'elect' out"},
        {"-z zk1:2181 lock /jobs", "'-z' is before the command: options follow it"},
        {"__complete", "for the completion scripts"},
        {"lock", "path"},
        {"lock relative true", "relative"},
        {"lock /a/../b true", "/a/../b"},
        {"lock /a\x1b[2J true", "U+001B"},
        {"lock " + long_path + " true", "aaaa"},
        {"lock -z zk1:99999 /a true", "99999"},
        {"lock -z zk1:abc /a true", "abc"},
        {"lock --auth-file /nonexistent /a", "/nonexistent"},
        {"lock --tls-ca /nonexistent/ca.pem /a", "CA file '/nonexistent/ca.pem': No such file"},
        {"elect", "which election"},
        {"lock --audit /no/such/folder /a echo ran", "--audit: cannot write '/no/such/folder'"},
        {"lock --metrics-file /no/such/folder /a echo ran",
         "--metrics-file: cannot write '/no/such/folder'"},
        {"elect -c true", "which election"},
        {"elect relative true", "relative"},
        {"elect -l --id a /a", "--id"},
        {"elect -l --data a /a", "--data"},
        {"elect -l --once /a", "--once"},
        {"elect -l --priority 1 /a", "--priority"},
        {"elect --priority high /a true", "'high'"},
        {"elect --priority 1000001 /a true", "1000001"},
        {"elect -l /a true", "'true'"},
        {"elect --data \xff /a true", "UTF-8"},
        {"elect --nonsense /a", "latchkey elect --help"},
        {"elect -t 4 --grace 1.5 /a", "1.5 s"},
        {"resign", "which election"},
        {"resign /a twice", "twice"},
        {"who", "which lock?"},
        {"who relative", "relative"},
        {"who --no-such-option /a", "--no-such-option"},
        {"who /a --no-such-option", "--no-such-option"},
        {"tree /a /b", "'/b' after PATH: this command takes one path"},
        {"resign /a /b", "'/b' after PATH: resign takes one path"},
        {"leader", "which election?"},
        {"leader relative", "relative"},
        {"leader /a /a", "'/a' after PATH"},
        {"tree --max-depth x", "x"},
        {"tree /a /b", "'/b' after PATH"},
        {"watch", "which lock?"},
        {"watch /a /b", "'/b' after PATH"},
        {"doctor --max-znodes 0", "0"},
        {"ping -n 0", "0"},
        {"ping -n many", "many"},
        {"ping /path", "/path"},
        {"ping -z host:port", "port"},
        {"break --yes --reason x /a", "takes PATH and NODE"},
        {"resize -- /a 0", "0"},
        {"resize -- /a -1", "-1"},
        {"resize /a many", "many"},
        {"resize /a 1000000001", "1000000001"},
        {"barrier open /a", "open"},
        {"barrier /a", "set, remove or wait, and PATH"},
        {"barrier set", "set, remove or wait, and PATH"},
        {"barrier set /a x", "x"},
        {"barrier set --timeout 1 /a", "--timeout"},
        {"barrier wait --timeout soon /a", "soon"},
        {"join /a", "give PATH and NAME"},
        {"join /a -c true", "give PATH and NAME"},
        {"join /a a/b -- true", "a/b"},
        {"members", "not 0 operands"},
        {"members /a /a", "not 2 operands"},
        {"dev-server --listen nowhere", "nowhere"},
        {"dev-server --listen 127.0.0.1:65536", "65536"},
        {"dev-server --listen 127.0.0.1:65535 --servers 2", "give at most 65534"},
        {"dev-server --servers 0", "0"},
        {"dev-server --servers 10", "10"},
        {"dev-server --tick 0", "0"},
        {"dev-server operand", "operand"},
        {"serve --listen here", "here"},
        {"serve --listen localhost:1", "'localhost'"},
        {"serve --listen 0.0.0.0:0", "give --token-file too"},
        {"serve --listen [::]:0", "give --token-file too"},
        {"serve --every 0", "0"},
        {"serve --max-znodes 0", "0"},
        {"serve --max-labels x", "x"},
        {"serve --token-file /nonexistent", "/nonexistent"},
        {"serve no-path", "no-path"},
    };
    for (const wrong_use& one : all) {
        SCOPED_TRACE(one.line);
        const auto p = typed(one.line);
        EXPECT_THAT(err_of(p, 64), HasSubstr(one.says));
        EXPECT_EQ(p->out(), "");
    }
}

TEST(Program, RefusesEmptyWordsAndLongOnes) {
    const auto refused = [](const words& all) { return err_of(run(all), 64); };
    EXPECT_THAT(refused({"lock", "-z", "", "/a", "true"}), HasSubstr("latchkey:"));
    EXPECT_THAT(refused({"resize", "-z", "zk1", "/a", ""}), HasSubstr("latchkey:"));
    EXPECT_THAT(refused({"elect", "-z", "zk1", "--id", "", "/a"}), HasSubstr("--id"));
    EXPECT_THAT(refused({"resign", "-z", "zk1", "--to", "", "/a"}), HasSubstr("id"));
    EXPECT_THAT(refused({"elect", "-z", "zk1", "--id", std::string(513, 'x'), "/a", "true"}),
                HasSubstr("512"));
}

TEST(Program, DescribesItselfAndItsCommands) {
    const std::string general = out_of(typed("--help"));
    EXPECT_EQ(out_of(typed("help")), general);
    EXPECT_EQ(out_of(typed("help help")), general);
    for (const std::string& command :
         words_of("lock elect resign who leader tree watch doctor ping "
                  "break revoke resize barrier join members "
                  "dev-server serve")) {
        const std::string help = out_of(typed(command + " --help"));
        EXPECT_THAT(help, StartsWith("Usage: latchkey " + command));
        EXPECT_EQ(out_of(typed("help " + command)), help);
        EXPECT_EQ(out_of(typed(command + " -h")), help);
        EXPECT_THAT(general, HasSubstr("\n  " + command + ' '));
    }
}

TEST(Program, SaysWhatItWasBuiltFrom) {
    const library_version now = version();
    EXPECT_THAT(out_of(typed("--version")),
                AllOf(StartsWith("latchkey " + std::string(now.library)),
                      HasSubstr("C client " + std::string(now.zookeeper_client)),
                      HasSubstr(now.commit),
                      HasSubstr("\nOpenSSL "),
                      HasSubstr(now.openssl)));
}

TEST(Program, CompletesWordsForShellsAlone) {
    const auto unreachable = typed("__complete zsh lock -z 127.0.0.1:1 /");
    EXPECT_NE(unreachable->wait(), -1);
    EXPECT_THAT(unreachable->out(),
                AnyOf("", ":nospace\n"));  // its time limit ends it, or the connection's
    EXPECT_EQ(unreachable->err(), "");
}

TEST(Program, TellsTheServiceManagerThatItIsElected) {
    const service_socket first;
    const service_socket second;
    const auto elect = [](const service_socket& manager) {
        const words command{"--", "sh", "-c", "echo \"<$NOTIFY_SOCKET>\"; exec sleep 1000"};
        return run(joined({"elect", "-z", development_servers(), "/service"}, command),
                   {.environment = {{"NOTIFY_SOCKET", manager.path()}}});
    };
    const auto leader = elect(first);
    EXPECT_THAT(first.next("STATUS=connecting"), HasSubstr(development_servers()));
    EXPECT_THAT(first.next("READY=1\n"), StartsWith("READY=1\nSTATUS=elected /service/"));
    // The command does not speak for the unit.
    EXPECT_TRUE(eventually([&] { return leader->out() == "<>\n"; }));

    const auto waiting = elect(second);
    EXPECT_NE(second.next("STATUS=connecting"), "");
    EXPECT_NE(status_after(SIGTERM, leader), -1);
    EXPECT_NE(first.next("STATUS=resigned"), "");
    EXPECT_NE(second.next("READY=1\n"), "");
}

TEST(DevServer, ServesCommandsUntilASignalEndsIt) {
    const auto server = typed("dev-server --listen 127.0.0.1:0 --servers 3");
    const words lock{"lock", "-z", listens_on(*server), "/lock", "-c", "echo $LATCHKEY_PATH"};
    EXPECT_EQ(out_of(run(lock)), "/lock\n");
    EXPECT_THAT(server->err(), HasSubstr("keeps nothing"));
    EXPECT_EQ(status_after(SIGTERM, server), 0);
}

TEST(DevServer, SaysWhyItCannotListen) {
    EXPECT_THAT(err_of(typed("dev-server --listen " + development_servers()), 71),
                HasSubstr("cannot listen on " + development_servers()));
}

}  // namespace
}  // namespace latchkey::test
