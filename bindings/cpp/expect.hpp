// SPDX-License-Identifier: MIT
// What the tests of the C++ header share: EXPECT, and a space of their own while they run.
#ifndef AFTERYOU_CPP_EXPECT_HPP
#define AFTERYOU_CPP_EXPECT_HPP

#include "afteryou.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
    do                                                                                             \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);           \
            std::exit(1);                                                                          \
        }                                                                                          \
    while (0)

// Calls tests(space, name) with a space that is removed afterwards.
template <class Tests> void in_a_space(Tests tests)
{
    char directory[] = "/dev/shm/afteryou-test-XXXXXX";
    EXPECT(mkdtemp(directory));
    const std::string name = std::string(directory) + "/space";
    {
        afteryou::space space(name);
        tests(space, name);
    }
    afteryou::remove(name);
    EXPECT(rmdir(directory) == 0);
}

#endif
