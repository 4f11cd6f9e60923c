#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/ensemble_access.hpp"
#include "session_contract.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {

/// A client of an in-process ensemble.
class in_process_client final : public contract_client {
public:
    explicit in_process_client(latchkey::testing::ensemble& e) : ensemble_(e) {}

    [[nodiscard]] runtime surroundings() override {
        return latchkey::testing::runtime_of(ensemble_);
    }

    [[nodiscard]] std::vector<session_options::endpoint> servers() override {
        return {{"server-0"}, {"server-1"}, {"server-2"}};
    }

    void cut_off(std::int64_t session) override { ensemble_.suspend(session); }

    void let_back(std::int64_t session) override { ensemble_.resume(session); }

    void expire(std::int64_t session) override { ensemble_.expire(session); }

private:
    latchkey::testing::ensemble& ensemble_;
};

/// An in-process ensemble as the contract wants it.
class in_process final : public contract_ensemble {
public:
    using ensemble = latchkey::testing::ensemble;

    explicit in_process(const ensemble::options& how)
        : ensemble_(how), exists_needs_read_(how.exists_needs_read) {}

    [[nodiscard]] std::unique_ptr<contract_client> make_client() override {
        return std::make_unique<in_process_client>(ensemble_);
    }

    [[nodiscard]] ensemble& servers() noexcept { return ensemble_; }

    [[nodiscard]] std::chrono::milliseconds timeout() override { return std::chrono::seconds(6); }

    [[nodiscard]] std::string fresh_path() override { return "/test"; }

    [[nodiscard]] bool exists_needs_read() override { return exists_needs_read_; }

    [[nodiscard]] bool wait(const std::function<bool()>& done) override {
        return ensemble_.run_until(done, std::chrono::minutes(1));
    }

private:
    ensemble ensemble_;
    const bool exists_needs_read_;
};

}  // namespace latchkey::test
