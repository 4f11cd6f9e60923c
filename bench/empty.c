/* The program that others are compared with: says that it is there, and waits. */
#include <unistd.h>

int main(void) {
    char word = '.';
    return write(1, &word, 1) == 1 && read(0, &word, 1) == 1 ? 0 : 1;
}
