// python/assay_worker/swallowed.py, on every Python of this machine: the trace rests on what CPython tells of a frame's end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/worker.h"
#include "tree/temp_folder.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

constexpr const char* kModule = R"py(import contextlib
def returns():
    try:
        import no_such_module
    except ImportError:
        return None
def converts():
    try:
        try:
            {}['key']
        except KeyError as error:
            raise ValueError('converted') from error
    except ValueError:
        pass
def passes_on():
    try:
        raise TypeError('passed on')
    finally:
        pass
def catches():
    try:
        passes_on()
    except Exception:
        return 5
def suppresses():
    with contextlib.suppress(OSError):
        raise OSError('suppressed')
def ordinary():
    return list(x for x in range(3)), next(iter([]), None)
class Odd(Exception):
    def __eq__(self, other):
        raise RuntimeError('compared')
    __hash__ = None
def odd():
    try:
        raise Odd('odd')
    except Odd:
        pass
def run():
    returns(); converts(); catches(); suppresses(); ordinary(); odd()
)py";

TEST(Swallowed, WhatIsCaughtAndWhere) {
  TempFolder folder;
  folder.write("assay_traced.py", kModule);
  size_t tried = 0;
  for (const char* python : {"python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14"}) {
    auto worker = Worker::start({.python = python, .path_first = {folder.path().string()}});
    if (!worker) continue;  // not on this machine
    ++tried;
    auto answer = (*worker)->call("server.run", {{"folder", folder.path().string()}, {"source",
        "from assay_worker import swallowed\n"
        "tracer = swallowed.Tracer([folder])\n"
        "tracer.start()\n"
        "import assay_traced\n"
        "assay_traced.run()\n"
        "tracer.stop()\n"
        "assert not tracer.faults, tracer.faults\n"
        "result = [r['type'] + ' ' + r['caught'].split(' in ')[1] + ' ' + ','.join(c['type'] for c in r.get('causes', [])) for r in tracer.rows()]\n"}});
    ASSERT_TRUE(answer && answer->answered()) << python << ": " << (answer ? answer->fault() : answer.error().message);
    EXPECT_THAT(answer->value.get<std::vector<std::string>>(),
                ElementsAre("ModuleNotFoundError returns ", "ValueError converts KeyError", "TypeError catches ", "OSError suppresses ", "Odd odd "))
        << python;
  }
  EXPECT_GT(tried, 0u);
}

}  // namespace
}  // namespace assay
