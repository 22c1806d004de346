#include "runtime/identify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/temp_venv.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class IdentifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    env_.distribution("kernels", "1.2", "kernels/__init__.py,,\nbroken_kernels.so,,\n");
    env_.add("kernels/__init__.py",
             "import functools\n"
             "def logged(f):\n"
             "    @functools.wraps(f)\n"
             "    def wrapper(*args):\n        return f(*args)\n"
             "    return wrapper\n"
             "@logged\n"
             "def attend(q, k, *, scale=None):\n"
             "    return q\n");
    worker_ = std::move(*Worker::start({.python = env_.python()}));
  }
  Identity of(const std::string& name) {
    auto identity = identify(*worker_, name);
    EXPECT_TRUE(identity) << identity.error().message;
    return identity ? *identity : Identity{};
  }
  TempVenv env_;
  std::unique_ptr<Worker> worker_;
};

TEST_F(IdentifyTest, ADecoratedFunction) {
  const Identity i = of("kernels.attend");
  EXPECT_EQ(i.fault, "");
  EXPECT_EQ(i.distribution, "kernels 1.2");
  EXPECT_EQ(i.file, env_.site("kernels/__init__.py"));
  EXPECT_EQ(i.first_line, 7u);
  EXPECT_EQ(i.last_line, 9u);
  EXPECT_EQ(i.signature, "(q, k, *, scale=None)");
  ASSERT_EQ(i.layers.size(), 2u);
  EXPECT_THAT(i.layers[0], HasSubstr("kernels.logged.wrapper at "));
  EXPECT_THAT(i.layers[1], HasSubstr("kernels.attend at "));
  EXPECT_NE(i.fingerprint, "");
}

TEST_F(IdentifyTest, TheFingerprintFollowsTheSource) {
  const std::string before = of("kernels.attend").fingerprint;
  EXPECT_EQ(of("kernels:attend").file_hash, of("kernels.attend").file_hash);
  env_.add("kernels/__init__.py", "def attend(q, k, *, scale=None):\n    return k\n");
  worker_->restart();
  EXPECT_NE(of("kernels.attend").fingerprint, before);
}

TEST_F(IdentifyTest, NativeCodeHasItsLibrary) {
  // In this interpreter a module of its own, or a part of the executable.
  const Identity i = of("math.sqrt");
  EXPECT_EQ(i.kind, "builtin_function_or_method");
  ASSERT_EQ(i.libraries.size(), 1u);
  EXPECT_NE(i.libraries[0].hash, "");
}

TEST_F(IdentifyTest, ALibraryThatCannotLoadIsExplained) {
  env_.library("broken_kernels.so", "int _Z17no_such_operationif(int); void* PyInit_broken_kernels(void) { return (void*)(long)_Z17no_such_operationif(1); }");
  const Identity i = of("broken_kernels.run");
  EXPECT_THAT(i.fault, HasSubstr("undefined symbol"));
  EXPECT_THAT(i.why, HasSubstr("needs the symbol no_such_operation(int, float)"));
}

TEST_F(IdentifyTest, WhatIsNotThere) {
  EXPECT_EQ(of("no_such_package.f").fault, "ModuleNotFoundError: No module named 'no_such_package'");
  EXPECT_THAT(of("kernels.gone").fault, HasSubstr("has no attribute 'gone'"));
}

}  // namespace
}  // namespace assay
