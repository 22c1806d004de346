#include "runtime/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/process.h"
#include "tree/temp_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The sanitizers reserve memory and slow down what is measured here; the worker itself is not instrumented.
class WorkerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Worker> start(WorkerOptions options = {}) {
    auto worker = Worker::start(std::move(options));
    EXPECT_TRUE(worker) << worker.error().message;
    return worker ? std::move(*worker) : nullptr;
  }
  Answer run(Worker& worker, const std::string& source, milliseconds limit = seconds(60), const Blocks& blocks = {}) {
    auto answer = worker.call("server.run", {{"source", source}}, blocks, limit);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? std::move(*answer) : Answer{};
  }
  // After whatever a case did, the next one is answered.
  void expect_well(Worker& worker) { EXPECT_EQ(run(worker, "result = 6 * 7").value, 42); }
};

TEST_F(WorkerTest, AnswersAndSaysWhoItIs) {
  auto worker = start();
  EXPECT_EQ(worker->about()["implementation"], "cpython");
  auto echoed = worker->call("server.echo", {{"a", {1, 2.5, "ü", nullptr, true}}});
  EXPECT_EQ(echoed->value.dump(), R"({"a":[1,2.5,"ü",null,true]})");
  EXPECT_EQ(run(*worker, "import sys; result = [p for p in sys.path if p in ('', '.')]").value.size(), 0u);
  EXPECT_EQ(worker->starts(), 1u);
}

TEST_F(WorkerTest, HalfASurrogatePairIsNoLostConnection) {
  auto worker = start();
  EXPECT_EQ(run(*worker, "result = 'name ' + chr(0xdcff)").value, "name ?");
  EXPECT_EQ(run(*worker, "raise ValueError(chr(0xd800))").fault(), "ValueError: ?");
  EXPECT_EQ(worker->starts(), 1u);
}

// The asked code has the socket as well as we do.
TEST_F(WorkerTest, WhatIsNoAnswerEndsTheCall) {
  auto worker = start();
  const std::string forged =
      "import sys\n"
      "f = sys._getframe()\n"
      "while 'sock' not in f.f_locals: f = f.f_back\n"
      "f.f_locals['sock'].sendall(len(text).to_bytes(4, 'little') + text)\n";
  for (const char* text : {"{}", "[]", "{\"error\": 1}", "nonsense"}) {
    Answer answer = run(*worker, "text = b'" + std::string(text) + "'\n" + forged);
    ASSERT_TRUE(answer.death) << text;
    EXPECT_EQ(answer.fault(), "closed the connection to assay");
    expect_well(*worker);
  }
}

TEST(Channel, WhoDoesNotReadHoldsNobodyUp) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  Channel here(pair[0]), there(pair[1]);
  EXPECT_FALSE(here.send(std::string(10 << 20, 'x'), {}, milliseconds(50)));
}

TEST_F(WorkerTest, WhatIsPrintedComesWithTheAnswer) {
  auto worker = start();
  EXPECT_EQ(run(*worker, "import os, sys; print('out', flush=True); os.write(2, b'err\\n')").output, "out\nerr\n");
  EXPECT_EQ(run(*worker, "").output, "");
  Answer much = run(*worker, "print('x' * 1000000)");
  EXPECT_EQ(much.output.size(), 64u * 1024);
  EXPECT_EQ(much.output_dropped, 1000001u - 64 * 1024);
}

TEST_F(WorkerTest, AnExceptionIsDataWithItsChain) {
  auto worker = start();
  Answer answer = run(*worker, "try:\n  {}['k']\nexcept KeyError as e:\n  raise ValueError('bad') from e\n");
  ASSERT_TRUE(answer.raised);
  EXPECT_EQ(answer.fault(), "ValueError: bad");
  EXPECT_EQ(answer.raised->where, "<case>:4 in <module>");
  ASSERT_EQ(answer.raised->causes.size(), 1u);
  EXPECT_EQ(to_text(answer.raised->causes[0]), "KeyError: 'k'");
  for (const char* leaving : {"raise SystemExit(3)", "raise KeyboardInterrupt"}) {
    EXPECT_TRUE(run(*worker, leaving).raised) << leaving;
  }
  expect_well(*worker);
  EXPECT_EQ(worker->starts(), 1u);
}

TEST_F(WorkerTest, SegmentationFaultAbortAndExitAreAttributed) {
  auto worker = start();
  Answer fault = run(*worker, "import ctypes\ndef boom():\n  ctypes.string_at(0)\nboom()");
  ASSERT_TRUE(fault.death);
  EXPECT_EQ(fault.death->number, SIGSEGV);
  EXPECT_THAT(fault.fault(), HasSubstr("ended by SIGSEGV, at "));
  EXPECT_THAT(fault.death->stacks, HasSubstr("in boom"));
  expect_well(*worker);
  Answer abort = run(*worker, "import os\nos.abort()");
  EXPECT_EQ(abort.fault(), "ended by SIGABRT, at <case>:2 in <module>");
  expect_well(*worker);
  EXPECT_EQ(run(*worker, "import os\nos._exit(7)").fault(), "ended its process with exit status 7");
  expect_well(*worker);
  EXPECT_EQ(run(*worker, "import os\nos.kill(os.getpid(), 9)").fault(), "ended by SIGKILL");
  expect_well(*worker);
  EXPECT_EQ(worker->starts(), 5u);
}

TEST_F(WorkerTest, AHangIsEndedAndLocated) {
  auto worker = start();
  for (const char* hang : {"while True:\n  pass", "import time\ntime.sleep(60)", "import ctypes\nctypes.PyDLL(None).pause()",
                           "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\ntime.sleep(60)"}) {
    Answer answer = run(*worker, hang, milliseconds(400));
    ASSERT_TRUE(answer.death) << hang;
    EXPECT_THAT(answer.fault(), StartsWith("did not come back within the time limit, at <case>:")) << hang;
    EXPECT_LT(answer.seconds, 5) << hang;
    expect_well(*worker);
  }
}

TEST_F(WorkerTest, InfiniteOutputFillsNothing) {
  auto worker = start();
  Answer answer = run(*worker, "import os\nwhile True:\n  os.write(1, b'x' * 65536)", milliseconds(500));
  EXPECT_EQ(answer.death->cause, Death::Cause::kTimeLimit);
  EXPECT_EQ(answer.output.size(), 64u * 1024);
  EXPECT_GT(answer.output_dropped, 1'000'000u);
  expect_well(*worker);
}

TEST_F(WorkerTest, AMemoryBlowUpIsEnded) {
  auto worker = start({.memory_limit = 400 << 20});
  Answer python = run(*worker, "x = []\nwhile True:\n  x.append(bytes(1 << 20))");
  EXPECT_TRUE((python.raised && python.raised->type == "MemoryError") ||
              (python.death && python.death->cause == Death::Cause::kMemoryLimit))
      << python.fault();
  expect_well(*worker);
}

TEST_F(WorkerTest, ForkedChildrenDoNotSpeakForTheWorker) {
  auto worker = start();
  EXPECT_EQ(run(*worker, "import os\nresult = 'child' if os.fork() == 0 else 'parent'").value, "parent");
  EXPECT_EQ(run(*worker, "import ctypes\nresult = 'child' if ctypes.CDLL(None).fork() == 0 else 'parent'").value, "parent");
  expect_well(*worker);
  // A child that lives on ends with the process, though it keeps the pipes open.
  Answer answer = run(*worker, "import os, time\nif os.fork() == 0:\n  time.sleep(600)\nos._exit(1)");
  EXPECT_EQ(answer.fault(), "ended its process with exit status 1");
  EXPECT_LT(answer.seconds, 5);
  expect_well(*worker);
}

TEST_F(WorkerTest, FolderAndStreamsArePutBack) {
  auto worker = start();
  Answer answer = run(*worker, "import os, sys, io\nos.chdir('/')\nsys.stdout = io.StringIO()\nprint('lost')");
  EXPECT_THAT(answer.side_effects,
              ElementsAre("changed the current folder to /", "replaced sys.stdout or sys.stderr"));
  EXPECT_EQ(run(*worker, "import os\nresult = os.getcwd()").value, fs::current_path().string());
  EXPECT_EQ(run(*worker, "import sys\nprint('seen')").output, "seen\n");
  run(*worker, "import os\nos.close(1)\nos.close(2)");
  expect_well(*worker);
  EXPECT_EQ(run(*worker, "import os\nos.closerange(3, 4096)").death->cause, Death::Cause::kExit);
  expect_well(*worker);
}

TEST_F(WorkerTest, MemoryIsSharedAndGuarded) {
  auto worker = start();
  auto block = SharedBlock::make(1000);
  ASSERT_TRUE(block);
  std::memset((*block)->data(), 1, 1000);
  Blocks blocks = {{"x", *block}};
  auto run_with = [&](const std::string& body) {
    return worker->call("server.run", {{"source", "b = blocks['x'].bytes()\n" + body}}, blocks);
  };
  EXPECT_EQ(run_with("result = sum(b)\nb[999] = 7")->value, 1000);
  EXPECT_EQ((*block)->data()[999], std::byte{7});
  EXPECT_TRUE((*block)->intact());
  // Beyond the last 64 bytes lies the guard page; below it, what was written shows.
  EXPECT_EQ(run_with("import ctypes\nctypes.memset(blocks['x'].address + 1000, 0, 1)")->fault(), "");
  EXPECT_FALSE((*block)->intact());
  EXPECT_EQ(run_with("import ctypes\nctypes.memset(blocks['x'].address + 1024, 0, 1)")->death->number, SIGSEGV);
  // The restarted process gets the block anew.
  EXPECT_EQ(run_with("result = b[999]")->value, 7);
  block->reset();
  blocks.clear();
  expect_well(*worker);
}

TEST_F(WorkerTest, NothingIsLeftBehind) {
  TempFolder place;
  auto listing = [&] { return std::distance(fs::recursive_directory_iterator(place.path()), {}); };
  ::setenv("TMPDIR", place.path().c_str(), 1);
  {
    auto worker = start({.environment = {{"ASSAY_TEST", "1"}}});
    run(*worker, "import tempfile, os\ntempfile.mkstemp()\nos.makedirs(os.environ['TRITON_CACHE_DIR'])");
    EXPECT_GT(listing(), 1);
    run(*worker, "import os\nos.abort()");
    run(*worker, "import tempfile\ntempfile.mkdtemp()");
  }
  EXPECT_EQ(listing(), 0);
  ::unsetenv("TMPDIR");
}

// assay itself may be killed: a child of this test plays assay, and dies hard.
TEST_F(WorkerTest, EndsWithAssayHoweverThatEnds) {
  TempFolder place;
  const pid_t assay = ::fork();
  if (assay == 0) {
    ::setenv("TMPDIR", place.path().c_str(), 1);
    auto worker = Worker::start({});
    if (worker) (void)(*worker)->call("server.run", {{"source", "import os\nopen('" + (place / "pid") + "', 'w').write(str(os.getpid()))"}});
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(assay, nullptr, 0);
  std::ifstream file(place / "pid");
  pid_t worker = 0;
  ASSERT_TRUE(file >> worker);
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    gone = ::kill(worker, 0) != 0 && std::distance(fs::directory_iterator(place.path()), {}) == 1;
    ::usleep(10'000);
  }
  EXPECT_TRUE(gone) << "worker or its folder is still there";
}

// The device is played by a module of that name here; tests/gpu/sticky_error.py does the same on a real one.
TEST_F(WorkerTest, ALostDeviceStartsAFreshProcess) {
  TempFolder place;
  place.write("torch/__init__.py", "from . import cuda\n");
  place.write("torch/cuda.py",
              "broken = False\n"
              "def is_initialized():\n    return True\n"
              "def synchronize():\n    if broken:\n        raise RuntimeError('CUDA error: device-side assert triggered')\n");
  auto worker = start({.path_first = {place.path().string()}});
  Answer ordinary = run(*worker, "import torch\nraise RuntimeError('shapes')");
  EXPECT_FALSE(ordinary.raised->device_lost);
  EXPECT_EQ(worker->starts(), 1u);
  Answer lost = run(*worker, "import torch\ntorch.cuda.broken = True\ntorch.cuda.synchronize()");
  EXPECT_TRUE(lost.raised->device_lost);
  expect_well(*worker);
  EXPECT_EQ(worker->starts(), 2u);
}

TEST_F(WorkerTest, WhatIsNoInterpreter) {
  auto message = [](const std::string& python) {
    auto worker = Worker::start({.python = python, .start_limit = seconds(5)});
    return worker ? "started" : worker.error().message;
  };
  EXPECT_EQ(message("no-such-python"), "no-such-python: program not found");
  EXPECT_THAT(message("true"), StartsWith("true: does not start as a Python interpreter: ended its process"));
  EXPECT_THAT(message("/"), HasSubstr("cannot be started"));
}

TEST_F(WorkerTest, PathFirstAndNoBytecode) {
  TempFolder place;
  place.write("assay_probe_module.py", "value = 5\n");
  auto worker = start({.path_first = {place.path().string()}});
  EXPECT_EQ(run(*worker, "import assay_probe_module as m\nresult = m.value").value, 5);
  EXPECT_FALSE(fs::exists(place / "__pycache__"));
}

}  // namespace
}  // namespace assay
