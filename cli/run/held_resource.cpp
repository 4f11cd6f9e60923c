#include "run/held_resource.hpp"

#include "output/json_text.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>

namespace latchkey::cli {

std::vector<environment_setting> settings_of(const held_resource& held,
                                             const run_options& options) {
    // No path has a line break in it.
    const auto lines = [](const auto& all) { return fmt::format("{}", fmt::join(all, "\n")); };
    const bool several = !options.paths.empty();
    std::vector<environment_setting> settings{
        {"LATCHKEY_PATH", several ? lines(options.paths) : options.path},
        {"LATCHKEY_NODE", lines(held.nodes)}};
    if (held.token) {
        settings.emplace_back("LATCHKEY_TOKEN", std::to_string(*held.token));
    }
    return settings;
}

std::string lines_of(const held_resource& held, const run_options& options) {
    std::string text;
    for (const std::string& node : held.nodes) {
        const std::string path =
            options.paths.empty() ? options.path : node.substr(0, node.rfind('/'));
        json_object object{{"path", path}, {"node", node}};
        std::string line = escaped(path) + ' ' + escaped(node);
        if (held.token) {
            object["token"] = std::to_string(*held.token);
            line += ' ' + std::to_string(*held.token);
        }
        text += options.json ? line_of(object) : line + '\n';
    }
    return text;
}

}  // namespace latchkey::cli
