#include "cases/report_cases.h"

namespace assay::num {

const std::vector<ReportCase>& report_cases() {
  static const std::vector<ReportCase> rows = {
      // Masks.
      {"gittensor-ai-lab/sparkinfer#3", "causal mask at the upper-left corner", "attn.varlen lens=5 q=2 heads=1 dim=64 fill=tomo", "causal-corner"},
      {"NVIDIA/cutlass#2336", "same, verifier shared the mask code", "attn.varlen dtype=f16 lens=128 q=3 heads=1 dim=128 fill=tomo", "causal-corner"},
      {"vllm-project/vllm-xpu-kernels#181", "keys past the end seen by a single query", "attn.paged lens=33 q=1 heads=2/1 dim=64 fill=tomo", "past-end"},
      {"onnx/onnx#8068", "future keys visible with an offset", "attn.kvcache lens=5 q=2 heads=1 dim=64 fill=tomo", "causal-ignored"},
      {"huggingface/transformers#39408", "window off by one, W + 1 keys", "attn.varlen lens=40 q=5 heads=2/1 dim=64 window=2,0 fill=tomo", "window-long"},
      {"NVIDIA-NeMo/Megatron-Bridge#2656", "window off by one, W - 1 keys", "attn.varlen lens=130 q=5 heads=2/1 dim=64 window=127,0 fill=tomo", "window-short"},
      {"sgl-project/sglang#26516", "window ignored", "attn.paged lens=131 q=1 heads=2/1 dim=64 window=127,0 fill=tomo", "window-ignored"},
      {"vllm-project/vllm-ascend#6803", "mask builder limited to a length", "attn.paged lens=2049 q=1 heads=1 dim=64 window=127,0 fill=tomo", "window-ignored"},
      // Grouped heads.
      {"Dao-AILab/flash-attention#648", "key heads tiled instead of grouped", "attn.varlen lens=20 q=2 heads=4/2 dim=64 seed=1", "head-mod"},
      {"FlashML-org/FreeToken#177", "key head from the tile index", "attn.varlen lens=20 q=2 heads=48/2 dim=64 seed=2", "head-mod"},
      {"HazyResearch/HipKittens#22", "wrong formula, right for square counts", "attn.varlen lens=20 q=2 heads=28/4 dim=64 seed=3", "head-mod"},
      {"Tencent/hpc-ops#6", "split-K merged wrongly for several key heads", "attn.paged lens=300 q=1 heads=4/2 dim=64 seed=4", "merge-base"},
      // LSE and merging.
      {"flashinfer-ai/flashinfer#4051", "NaN where both states are empty", "merge.states states=3 rows=16 fill=empty dtype=f16", "both-empty-nan"},
      {"flashinfer-ai/flashinfer#5262", "finite initial maximum swallows low scores", "merge.states fill=low dtype=f32", "finite-sentinel"},
      {"vllm-project/vllm#27491", "a row without keys in one chunk poisons the other", "merge.states rows=16 fill=empty", "zero-times-nan"},
      {"vllm-project/vllm#49294", "LSE of rows without keys not -inf", "attn.varlen lens=0,5 q=2 heads=2/1 dim=64", "empty-lse-zero"},
      {"flashinfer-ai/flashinfer#4975", "empty rank leaves stale output, 0·NaN", "merge.states rows=16 fill=empty dtype=f32", "zero-times-nan"},
      {"sgl-project/sglang#40903", "base-2 LSE into a natural merge", "merge.states fill=randn dtype=f32 seed=1", "merge-base"},
      {"flashinfer-ai/flashinfer#4485", "LSE base differs between kernels", "attn.paged lens=64 q=1 heads=2/1 dim=64 fill=tomo", "lse-base"},
      {"vllm-project/vllm-xpu-kernels#479", "LSE transposed, square shape", "attn.varlen lens=9,5 q=2,1 heads=3/1 dim=64 seed=2", "lse-layout"},
      {"vllm-project/vllm#57012", "LSE transposed after a refactor", "attn.varlen lens=20 q=7 heads=5/1 dim=64 seed=3", "lse-layout"},
      {"vllm-project/vllm#22003", "LSE strides ignored", "merge.states rows=6 dtype=f32 seed=4", "lse-stride"},
      {"sgl-project/sglang#34355", "LSE not written", "attn.paged lens=8 q=1 heads=8/2 dim=128 fill=tomo", "lse-missing"},
      {"ROCm/aiter#3267", "LSE wrong with folded heads", "mla.dense lens=64 q=1 heads=32/1 seed=5", "head-count-local"},
      {"NVIDIA/TensorRT-LLM#19220", "row maximum placeholder where a tile is masked", "attn.varlen lens=7 q=2 heads=2/1 dim=64 window=2,0 sink=on fill=tomo", "window-long"},
      {"ohdearquant/lattice#373", "sentinel folded into the row maximum", "attn.varlen lens=1 q=1 heads=8/1 dim=64 fill=peaked scale=4 seed=11", "finite-sentinel"},
      // Bytes that must not be read.
      {"Dao-AILab/flash-attention#1745", "0·NaN from V past the length", "attn.paged dtype=f16 lens=1,3 block=4 heads=1 dim=64", "tail-nan"},
      {"Dao-AILab/flash-attention#2374", "same, page longer than the sequence", "attn.paged lens=32,65,96,48 block=128 heads=8/8 dim=64", "tail-nan"},
      {"ROCm/aiter#5401", "same with a window", "attn.paged lens=40 block=16 q=2 heads=2/1 dim=64 window=7,0", "tail-nan"},
      {"sgl-project/sglang#32477", "padded tokens stored in the reserved slot", "cache.insert tokens=13 seed=1", "padding-written"},
      // Sinks and softcap.
      {"ROCm/rocm-libraries#12227", "sink counted twice by two splits", "attn.varlen lens=40,1 q=1 heads=2/1 dim=64 sink=on seed=1", "sink-per-split"},
      {"modular/modular#6591", "sink of another head", "attn.varlen lens=1,40 q=1 heads=2/1 dim=64 sink=on seed=2", "sink-head"},
      {"vllm-project/vllm-metal#665", "softcap ignored", "attn.varlen lens=40 q=2 heads=2/1 dim=64 softcap=1 fill=peaked", "softcap-omitted"},
      {"sgl-project/sgl-kernel-xpu#491", "softcap not forwarded", "attn.paged lens=40 q=2 heads=2/1 dim=64 softcap=5 fill=peaked", "softcap-omitted"},
      // Context parallelism, captured graphs, speculative decoding.
      {"vllm-project/vllm#54541", "no ownership filter, interleave taken as 1", "cp.attention interleave=4 lens=6 q=1 seed=1", "interleave"},
      {"vllm-project/vllm#48003", "foreign pages attended", "cp.attention lens=34 q=1 seed=2", "foreign-page"},
      {"vllm-project/vllm#44868", "captured lengths replayed", "attn.paged lens=4,17 q=1 heads=2/1 dim=64 fill=tomo", "captured-length"},
      {"sgl-project/sglang#37975", "stale bounds after capture", "mla.dense lens=4,17 q=1 heads=2/1 fill=tomo", "captured-length"},
      {"sgl-project/sglang#26019", "page table of zeros at replay", "attn.paged lens=40 q=1 heads=2/1 dim=64 fill=needle", "wrong-page"},
      {"ROCm/aiter#3046", "no causal variant for several draft tokens", "mla.dense lens=3 q=2 heads=128/1 fill=tomo", "causal-ignored"},
      {"vllm-project/vllm#25196", "requests for tokens", "batch.split q=2,2,9 threshold=2", "requests-for-tokens"},
      {"vllm-project/vllm-ascend#9956", "ragged drafts treated as uniform", "batch.split q=3,1,2 threshold=3", "uniform-batch"},
      // The indexer.
      {"ROCm/aiter#2901", "row start ignored in top-k", "indexer.topk lens=5,4 topk=2 fill=rising", "row-start"},
      {"vllm-project/vllm#56749", "absolute for relative indices", "indexer.topk lens=5,4 topk=2 fill=rising", "absolute-for-relative"},
      {"ROCm/aiter#4661", "one end for all tokens of a request", "indexer.logits ctx=2d lens=9 next=2 seed=1", "next-n-ignored"},
      {"sgl-project/sglang#12457", "packed offset absent", "indexer.logits lens=40,37 next=2 seed=2", "start-ignored"},
      {"deepseek-ai/DeepGEMM#324", "odd numbers of draft tokens", "indexer.logits cache=paged lens=65,4 next=3 seed=3", "next-n-ignored"},
      {"deepseek-ai/FlashMLA#109", "ids past the end not taken for holes", "mla.sparse lens=100 q=2 heads=4/1 causal=none topk=32 fill=tomo", "hole-only-minus-one"},
      {"sgl-project/sgl-kernel-xpu#214", "token scale of the neighbour, weak data", "indexer.logits cache=paged lens=65 next=1 seed=4", "neighbour-scale"},
      {"vllm-project/vllm#50576", "planar scales read as interleaved", "indexer.logits cache=paged lens=70 block=64 dim=128 seed=5", "interleaved-scales"},
      {"ml-explore/mlx-lm#1443", "sparse differs from dense just past topk", "mla.sparse lens=17 q=1 heads=4/1 causal=none topk=16 holes=off seed=6", "last-key-dropped"},
      // Layout, strides, widths.
      {"vllm-project/vllm#47671", "page times stride in 32 bits", "attn.paged lens=200 q=1 heads=2/1 dim=64 pages=far fill=tomo", "offset-32-bit"},
      {"vllm-project/vllm#50427", "32-bit offsets wrap silently", "attn.paged lens=100 q=8 heads=2/1 dim=64 pages=far fill=tomo", "offset-32-bit"},
      {"ROCm/aiter#3498", "block stride ignored, K and V interleaved", "attn.paged lens=40 q=1 heads=2/1 dim=64 layout=interleaved fill=needle", "block-stride"},
      {"vllm-project/vllm-xpu-kernels#258", "padded pages assumed contiguous", "attn.paged lens=40 q=1 heads=2/1 dim=64 layout=gaps fill=needle", "block-stride"},
      {"vllm-project/vllm#44577", "several layers in a page", "attn.paged lens=40 q=1 heads=2/1 dim=64 layout=slab fill=needle", "block-stride"},
      {"vllm-project/vllm#49716", "scale of another token in a padded page", "attn.paged lens=40 q=1 heads=2/1 dim=64 kv=int8 kvscale=token layout=gaps", "neighbour-scale"},
      {"local-inference-lab/b12x#85", "row stride of the table from its used width", "index.convert lens=40,17 tokens=6 block=4 seed=1", "width-stride"},
      {"ROCm/ATOM#857", "table unit taken for another block size", "index.convert lens=40,17 tokens=6 block=4 seed=2", "block-unit"},
      {"vllm-project/vllm#53982", "index past a narrow table", "index.convert lens=4,17 tokens=6 block=4 seed=3", "tail-wrapped"},
      {"flagos-ai/FlagGems#5235", "rows past the end written", "attn.kvcache lens=40 q=2 heads=2/1 dim=64", "padded-rows-written"},
      {"ikawrakow/ik_llama.cpp#2031", "key and value dims differ", "attn.varlen lens=577 q=1 heads=2/1 dim=96/64 seed=4", "value-dim-padded"},
      // Quantised caches.
      {"vllm-project/vllm#42580", "cache scales dropped", "attn.paged lens=40 q=1 heads=2/1 dim=64 kv=e4m3 fill=peaked", "k-scale-dropped"},
      {"vllm-project/vllm#42956", "key scale from another tensor", "mla.dense lens=40 q=1 heads=16/1 kv=e4m3 fill=peaked", "k-scale-dropped"},
      {"vllm-project/vllm#45562", "e4m3fn for e4m3fnuz", "attn.paged lens=40 q=1 heads=2/1 dim=64 kv=e4m3fnuz", "fnuz-as-fn"},
      {"vllm-project/vllm#51091", "scale not the one that was stored with", "cache.gather tokens=20 scales=token", "scale-dropped"},
      {"kekzl/imp#1344", "half of a wide head not copied", "cache.insert dim=512 tokens=9", "half-copied"},
      // Weights.
      {"pie-project/pie#491", "AWQ zero points not permuted", "quant.wna16 format=awq fill=identity", "zero-order"},
      {"ModelCloud/GPTQModel#2350", "zero point 0 stored as -1 & 15", "quant.wna16 format=gptq1 k=64 n=64 fill=identity", "zero-wraps"},
      {"vllm-project/vllm#7374", "act order ignored on a shard", "quant.wna16 order=act fill=identity", "group-index"},
      {"vllm-project/vllm#41511", "group size inferred wrongly", "quant.wna16 k=256 group=64 fill=identity", "group-size"},
      {"vllm-project/vllm#21066", "unused zero points applied", "quant.wna16 zeros=sym fill=identity", "zeros-of-symmetric"},
      {"vllm-project/vllm#33200", "zero points in another layout", "quant.wna16 format=ct k=256 n=16 group=128 fill=identity", "zero-order"},
      {"intel/auto-round#2273", "signed and unsigned codes", "quant.wna16 fill=identity", "signed"},
      {"ROCm/hip-ep#967", "K tail", "quant.wna16 k=152 m=2", "k-tail"},
      {"vllm-project/vllm#52997", "number of scale blocks rounded down", "quant.fp8block n=72 block=32", "floor-blocks"},
      {"vllm-project/vllm#10292", "static zero point without its scale", "quant.w8a8 activation=static", "azp-unscaled"},
      {"sgl-project/sglang#29036", "activation scales in the other order", "quant.fp8block m=3 k=300 block=32 scales=ue8m0", "scales-transposed"},
      {"sgl-project/sglang#15951", "bias permuted", "quant.wna16 bias=on", "bias-permuted"},
      {"huggingface/text-generation-inference#1036", "bias added by every rank", "quant.w8a8 bias=on", "bias-twice"},
      {"vllm-project/vllm-ascend#13012", "square weights transposed twice", "quant.moe inter=64 hidden=64", "w2-transposed"},
      {"huggingface/transformers#46842", "rotary pairing flag not read", "ops.rotary style=pairs", "pairing"},
  };
  return rows;
}

}  // namespace assay::num
