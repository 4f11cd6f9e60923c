#include "session_contract.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + separator.size()) {
        end = text.find(separator, begin);
        parts.push_back(text.substr(begin, end - begin));
    }
    return parts;
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) {
        all += (all.empty() ? "" : " ") + word;
    }
    return all.empty() ? "nothing" : all;
}

acl access_of(const std::string& name) {
    const auto world = [](permission p) { return acl{{"world", "anyone", p}}; };
    static const std::map<std::string, acl> accesses{
        {"", open_unsafe_acl()},
        {"creator", creator_only_acl()},
        {"r", world(permission::read)},
        {"w", world(permission::write)},
        {"c", world(permission::create)},
        {"rc", world(permission::read | permission::create)}};
    return accesses.at(name);
}

/// Plays the steps of a scenario in a directory.
class contract_script {
public:
    contract_script(contract_ensemble& e, subject& main, std::string directory)
        : ensemble_(e), main_(main), directory_(std::move(directory)) {}

    /// The steps, with the outcomes that there were.
    std::vector<std::string> play(const std::vector<std::string>& steps) {
        std::vector<std::string> done;
        for (const std::string& step : steps) {
            const auto parts = split(step, " -> ");
            const bool open = parts.size() == 1;
            const std::string what = perform(parts.front(), open ? "" : parts.back());
            done.push_back(open && what == "ok" ? step : parts.front() + " -> " + what);
        }
        return done;
    }

private:
    struct operation {
        std::string verb;
        std::string last;  ///< an ACCESS or a LABEL
        request what;
    };

    operation parse(const std::string& text) const {
        static const std::map<std::string, create_mode> modes{
            {"create", plain},
            {"numbered", numbered},
            {"ephemeral", ephemeral},
            {"container", create_mode::container}};
        static const std::regex form(R"((\S+) ?([^=@ ]*)(=([^@ ]*))?(@(\d+))?( (for|by) (\w+))?)");
        std::smatch m;
        EXPECT_TRUE(std::regex_match(text, m, form)) << text;
        const std::string verb = m[1];
        const std::string path = m[2] == "/" ? directory_ : directory_ + "/" + m[2].str();
        const int version = m[6].matched ? std::stoi(m[6]) : request::any_version;
        request what = verb == "set"            ? request::set(path, m[4], version)
                       : verb == "remove"       ? request::remove(path, version)
                       : verb == "check"        ? request::check(path, version)
                       : verb.ends_with("list") ? request::children(path)
                       : verb == "stat"         ? request::exists(path)
                       : verb == "exists"       ? request::exists(path)
                                                : request::get(path);
        if (const auto mode = modes.find(verb); mode != modes.end()) {
            what = request::create(path, m[4], mode->second, access_of(m[9]));
        }
        return {verb, m[9], std::move(what)};
    }

    subject& session(const std::string& name) {
        std::unique_ptr<subject>& s = others_[name];
        if (s == nullptr) {
            s = std::make_unique<subject>(
                ensemble_, std::vector<session_options::identity>{{"digest", name + ":secret"}});
            EXPECT_TRUE(s->wait_connected());
        }
        return *s;
    }

    std::string perform(const std::string& step, const std::string& expected) {
        const auto parts = split(step, ": ");
        subject& s = parts.size() == 1 ? main_ : session(parts.front());
        if (std::exchange(last_, &s) != &s) {
            s.ask(request::multi({request::check(directory_)}));
        }
        if (step == "break") {
            const std::size_t before = s.count("connected");
            s.on_loop([&] { s.reconnect(); });
            return s.wait_for("connected", before + 1) ? "ok" : "not connected again";
        }
        std::vector<request> all;
        operation asked;
        for (const std::string& each : split(parts.back(), " & ")) {
            asked = parse(each);
            all.push_back(asked.what);
        }
        if (all.size() > 1 || asked.verb == "check") {
            return outcome({"multi", "", {}}, s.ask(request::multi(std::move(all))));
        }
        if (asked.verb == "told") {
            return told(s, asked.last, expected == "nothing" ? 0 : split(expected, " ").size());
        }
        if (asked.verb == "drop") {
            s.on_loop([&] { watchers_.erase(asked.last); });
            return "ok";
        }
        if (!asked.verb.starts_with("watch")) {
            return outcome(asked, s.ask(asked.what));
        }
        auto& w = watchers_[asked.last];
        w = w == nullptr ? s.watcher(directory_ + asked.last) : w;
        return text_of(s.ask(asked.what, w).code);
    }

    std::string told(subject& s, const std::string& label, std::size_t events) const {
        const std::string prefix = directory_ + label + ":";
        static_cast<void>(ensemble_.wait([&] { return s.entries(prefix).size() >= events; }));
        auto all = s.entries(prefix);
        for (std::string& entry : all) {
            entry.erase(0, prefix.size());
        }
        return joined(all);
    }

    std::string outcome(const operation& asked, const reply& r) const {
        if (!r.ok()) {
            std::string all = text_of(r.code);
            for (const reply& each : r.results) {
                all += (&each == &r.results.front() ? ": " : " ") + text_of(each.code);
            }
            return all;
        }
        if (asked.verb == "get") {
            return r.data.empty() ? "nothing" : r.data;
        }
        if (asked.verb == "list") {
            auto names = r.names;
            std::sort(names.begin(), names.end());
            return joined(names);
        }
        if (asked.verb == "stat") {
            return joined({"version",
                           std::to_string(r.stat.version),
                           "children",
                           std::to_string(r.stat.num_children),
                           "changes",
                           std::to_string(r.stat.cversion)});
        }
        const bool named = asked.what.what == request::kind::create && r.path != asked.what.path;
        return named ? r.path.substr(directory_.size() + 1) : "ok";
    }

    contract_ensemble& ensemble_;
    subject& main_;
    const std::string directory_;
    std::map<std::string, std::unique_ptr<subject>> others_;
    std::map<std::string, std::shared_ptr<session::watcher>> watchers_;
    const subject* last_ = &main_;
};

}  // namespace

void SessionContract::expect_kept(const std::vector<contract_scenario>& all) {
    for (const auto& [claim, text] : all) {
        SCOPED_TRACE(claim);
        ASSERT_TRUE(main_->ask(create(at(claim))).ok());
        const auto steps = split(text, "; ");
        EXPECT_EQ(contract_script(*ensemble_, *main_, at(claim)).play(steps), steps);
    }
}

}  // namespace latchkey::test
