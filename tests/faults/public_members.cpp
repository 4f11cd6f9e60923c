#include "public_members.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

namespace latchkey::test {
namespace {

/// The text after all replacements that can be made.
std::string without(std::string text, const std::regex& what, const char* with = "") {
    for (std::string before; before != text;) {
        before = text;
        text = std::regex_replace(text, what, with);
    }
    return text;
}

/// What a declaration declares, if it is a function with a body or a semicolon of its own.
std::string function_in(std::string declaration) {
    static const std::regex attributes(R"(\[\[[^\]]*\]\])");
    static const std::regex arguments(R"(<[^<>]*>)");
    static const std::regex other(R"(^\s*(using|friend|enum|struct|class|static constexpr)\b)");
    static const std::regex defaulted(R"(=\s*(default|delete)\s*$)");
    static const std::regex name(R"((operator[^(]*[^(\s]|~?\w+)\s*\()");
    declaration = std::regex_replace(declaration, attributes, "");
    declaration = without(std::move(declaration), arguments);
    declaration = std::regex_replace(declaration, std::regex(R"(^\s*template)"), "");
    std::smatch found;
    if (std::regex_search(declaration, other) || std::regex_search(declaration, defaulted) ||
        !std::regex_search(declaration, found, name)) {
        return {};
    }
    return found[1];
}

/// The public functions of the body of a class.
std::vector<std::string> functions_in(std::string body) {
    static const std::regex default_value(R"(=\s*\{[^{}]*\})");
    static const std::regex braces(R"(\{[^{}]*\})");
    static const std::regex label(R"(\b(public|private|protected):(?!:))");
    body = without(without(std::move(body), default_value), braces, ";");
    std::vector<std::string> all;
    bool is_public = false;
    std::istringstream declarations(body);
    for (std::string declaration; std::getline(declarations, declaration, ';');) {
        for (std::smatch found; std::regex_search(declaration, found, label);) {
            is_public = found[1] == "public";
            declaration = found.suffix();
        }
        const std::string name = function_in(declaration);
        if (is_public && !name.empty()) {
            all.push_back(name);
        }
    }
    return all;
}

std::string without_comments(const std::string& text) {
    static const std::regex comment(R"(//[^\n]*|\n#[^\n]*)");
    return std::regex_replace(text, comment, "");
}

}  // namespace

std::vector<std::string> public_members_in(const std::string& text) {
    static const std::regex head(
        R"(\nclass (?:LATCHKEY_EXPORT |\[\[nodiscard\]\] )*(\w+)([^;{]*)\{)");
    static const std::regex forms(R"(\b(\w+_forms)<)");
    static std::map<std::string, std::vector<std::string>> of_forms;  // read before the others
    const std::string code = "\n" + without_comments(text);
    std::vector<std::string> all;
    for (std::sregex_iterator c(code.begin(), code.end(), head), none; c != none; ++c) {
        const std::string name = (*c)[1];
        const std::string bases = (*c)[2];
        const auto begin = static_cast<std::size_t>(c->position() + c->length());
        auto functions = functions_in(code.substr(begin, code.find("\n};", begin) - begin));
        if (name.ends_with("_forms")) {
            of_forms[name] = functions;
            continue;
        }
        for (std::sregex_iterator f(bases.begin(), bases.end(), forms); f != none; ++f) {
            const auto& more = of_forms[(*f)[1]];
            functions.insert(functions.end(), more.begin(), more.end());
        }
        for (const std::string& f : functions) {
            all.push_back(name + "::" + f);
        }
    }
    return all;
}

std::vector<std::string> public_members(const std::string& directory) {
    std::vector<std::filesystem::path> headers;
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
        headers.push_back(file.path());
    }
    std::sort(headers.begin(), headers.end());
    std::stable_partition(headers.begin(), headers.end(), [](const auto& h) {
        return h.stem().string().ends_with("_forms");
    });
    std::vector<std::string> all;
    for (const auto& header : headers) {
        std::ostringstream text;
        text << std::ifstream(header).rdbuf();
        for (std::string& member : public_members_in(text.str())) {
            all.push_back(std::move(member));
        }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace latchkey::test
