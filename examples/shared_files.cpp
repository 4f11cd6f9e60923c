// Programs on many hosts read a file of shared storage together, and write it alone.
//
//     example_shared_files HOST:PORT[,HOST:PORT...] FILE read|write TIMES
#include <latchkey/client.hpp>
#include <latchkey/file_lock_path.hpp>
#include <latchkey/guard.hpp>
#include <latchkey/shared_mutex.hpp>

#include <fstream>
#include <iostream>
#include <string>
#include <thread>

using namespace std::chrono_literals;

constexpr int lines = 8;

/// Writes in place, line by line: a reader without the lock would see a part of it.
void write_record(const std::string& file, const latchkey::guard& g) {
    const std::string text = g.token().to_string();
    std::fstream out(file, std::ios::in | std::ios::out);
    if (!out) {
        out.open(file, std::ios::out);
    }
    for (int i = 0; i < lines && g.valid(); ++i) {  // files compare no tokens: ask before each line
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
    return same == lines || same == 0;  // 0: nothing was written yet
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
                const latchkey::guard writing(m, latchkey::lock_mode::exclusive);
                write_record(file, writing);
            } else {
                const latchkey::guard reading(m, latchkey::lock_mode::shared);
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
