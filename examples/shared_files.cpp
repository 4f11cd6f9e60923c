// Programs on many hosts read a file of shared storage together, and write it alone.
//
//     example_shared_files HOST:PORT[,HOST:PORT...] FILE read|write TIMES
#include <latchkey/file_lock_path.hpp>
#include <latchkey/shared_mutex.hpp>

#include <fstream>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

using namespace std::chrono_literals;

constexpr int lines = 8;

/// Not at once, and in place: whoever read meanwhile would see a part of it.
void write_record(const std::string& file, latchkey::hold& h) {
    const std::string text = h.token().to_string();
    std::fstream out(file, std::ios::in | std::ios::out);
    if (!out) {
        out.open(file, std::ios::out);
    }
    for (int i = 0; i < lines && h.valid(); ++i) {  // storage cannot refuse: ask before each effect
        out << text << '\n' << std::flush;
        std::this_thread::sleep_for(1ms);
    }
}

bool record_is_whole(const std::string& file) {
    std::ifstream in(file);
    std::string first;
    std::getline(in, first);
    int same = in ? 1 : 0;
    for (std::string line; std::getline(in, line) && line == first; ++same) {
        std::this_thread::sleep_for(1ms);
    }
    return same == lines || same == 0;  // or nothing was written yet
}

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: example_shared_files SERVERS FILE read|write TIMES\n";
        return 64;
    }
    const std::string file = argv[2];
    const bool writes = argv[3] == std::string("write");
    try {
        auto zk = latchkey::client::connect(argv[1]);
        latchkey::shared_mutex m(zk, latchkey::file_lock_path(file));
        for (int times = std::stoi(argv[4]); times > 0; --times) {
            if (writes) {
                const std::unique_lock writing(m);
                write_record(file, m.held());
            } else {
                const std::shared_lock reading(m);
                if (!record_is_whole(file)) {
                    std::cerr << "torn: a record of more than one writer\n";
                    return 1;
                }
            }
        }
        std::cout << (writes ? "wrote" : "read") << " whole records only\n";
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
