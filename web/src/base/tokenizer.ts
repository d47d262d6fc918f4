// SPDX-License-Identifier: Apache-2.0
// Words of code by kind, one line at a time: enough to read by, not a parser. Texts of the tokens
// of a line joined are the line.

export type Language = "cuda" | "python" | "ptx" | "sass" | "plain";
export type TokenKind =
  "plain" | "keyword" | "type" | "string" | "number" | "comment" | "opcode" | "register" | "label";

export interface Token {
  kind: TokenKind;
  text: string;
}

// What a line begins inside of: nothing, or what ends with this text.
export type LineState = "" | "*/" | '"""' | "'''";

const words = (text: string) => new Set(text.split(" "));

const CUDA_KEYWORDS = words(
  "alignas alignof asm auto break case catch class concept const const_cast consteval constexpr constinit continue " +
    "decltype default delete do dynamic_cast else enum explicit export extern false final for friend goto if inline " +
    "mutable namespace new noexcept nullptr operator override private protected public register reinterpret_cast " +
    "requires return sizeof static static_assert static_cast struct switch template this throw true try typedef " +
    "typename union using virtual volatile while __global__ __device__ __host__ __shared__ __constant__ __managed__ " +
    "__restrict__ __forceinline__ __noinline__ __launch_bounds__ __grid_constant__ __cluster_dims__",
);
const CUDA_TYPES = words(
  "bool char double float int long short signed size_t unsigned void half half2 __half __half2 nv_bfloat16 " +
    "__nv_bfloat16 dim3 int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uint uchar ushort ulong " +
    "float2 float3 float4 int2 int3 int4 uint2 uint3 uint4 double2 cudaStream_t",
);
const PYTHON_KEYWORDS = words(
  "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda match nonlocal not or pass raise return try while with yield",
);
const PYTHON_TYPES = words(
  "bool bytes dict float int list object set str tuple self tl torch triton",
);

const NUMBER =
  /(?:0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)[uUlLfFhHj]*/y;
const WORD = /[A-Za-z_]\w*/y;
const STRING = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/y;
const SPACE = /\s+/y;

type Rule = [RegExp, (text: string, before: string) => TokenKind];

const is = (kind: TokenKind) => () => kind;

const RULES: Record<Language, Rule[]> = {
  cuda: [
    [/\/\/.*/y, is("comment")],
    [/#\s*[a-z]+/y, (_, before) => (before.trim() === "" ? "keyword" : "plain")],
    [STRING, is("string")],
    [NUMBER, is("number")],
    [
      WORD,
      (text) => (CUDA_KEYWORDS.has(text) ? "keyword" : CUDA_TYPES.has(text) ? "type" : "plain"),
    ],
  ],
  python: [
    [/#.*/y, is("comment")],
    [/@[\w.]+/y, (_, before) => (before.trim() === "" ? "keyword" : "plain")],
    [/[rRbBfFuU]{1,2}(?=["'])/y, is("string")],
    [STRING, is("string")],
    [NUMBER, is("number")],
    [
      WORD,
      (text) => (PYTHON_KEYWORDS.has(text) ? "keyword" : PYTHON_TYPES.has(text) ? "type" : "plain"),
    ],
  ],
  ptx: [
    [/\/\/.*/y, is("comment")],
    [/"[^"]*"?/y, is("string")],
    [/@!?%\w+/y, is("register")],
    [/%[\w.]+/y, is("register")],
    [/\.[a-z]\w*/y, (_, before) => (before.trim() === "" ? "keyword" : "type")],
    [/\$[\w$]+/y, is("label")],
    [/0[fFdD][\da-fA-F]{8,16}/y, is("number")],
    [NUMBER, is("number")],
    // An operation is the first word of its line, behind a guard.
    [
      /[A-Za-z_]\w*(?:\.[\w:]+)*/y,
      (_, before) => (/^\s*(?:@!?%\w+\s+)?$/.test(before) ? "opcode" : "plain"),
    ],
  ],
  sass: [
    [/\/\*[^*]*\*\//y, is("comment")],
    [/@!?U?P[\dT]+/y, is("register")],
    [/`\([^)]*\)|\.L_\w+/y, is("label")],
    [/[-+]?0x[\da-fA-F]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?\b/y, is("number")],
    [/U?R(?:\d+|Z)(?:\.\w+)*\b|U?P(?:\d|T)\b|SR_[\w.]+|B\d+\b/y, is("register")],
    [
      /[A-Za-z_]\w*(?:\.\w+)*/y,
      (_, before) => (/^\s*(?:@!?U?P[\dT]+\s+)?$/.test(before) ? "opcode" : "plain"),
    ],
  ],
  plain: [],
};

const TRIPLE = /[rRbBfFuU]{0,2}("""|''')/y;

function push(tokens: Token[], kind: TokenKind, text: string): void {
  if (text === "") return;
  const last = tokens[tokens.length - 1];
  if (last?.kind === kind) last.text += text;
  else tokens.push({ kind, text });
}

function matchAt(rule: RegExp, line: string, at: number): string | null {
  rule.lastIndex = at;
  return rule.exec(line)?.[0] ?? null;
}

// What begins here and may end on a later line.
function opens(
  line: string,
  at: number,
  language: Language,
): { text: string; end: LineState } | null {
  if (language === "cuda" || language === "ptx") {
    return line.startsWith("/*", at) ? { text: "/*", end: "*/" } : null;
  }
  if (language !== "python") return null;
  const text = matchAt(TRIPLE, line, at);
  return text === null ? null : { text, end: text.slice(-3) as LineState };
}

function scan(
  line: string,
  language: Language,
  from: LineState,
): { tokens: Token[]; state: LineState } {
  const tokens: Token[] = [];
  let state = from;
  let at = 0;
  while (at < line.length) {
    if (state !== "") {
      const kind = state === "*/" ? "comment" : "string";
      const end = line.indexOf(state, at);
      const to = end < 0 ? line.length : end + state.length;
      push(tokens, kind, line.slice(at, to));
      if (end >= 0) state = "";
      at = to;
      continue;
    }
    const space = matchAt(SPACE, line, at);
    if (space !== null) {
      push(tokens, "plain", space);
      at += space.length;
      continue;
    }
    const opened = opens(line, at, language);
    if (opened) {
      push(tokens, opened.end === "*/" ? "comment" : "string", opened.text);
      state = opened.end;
      at += opened.text.length;
      continue;
    }
    let text = line[at] as string;
    let kind: TokenKind = "plain";
    for (const [rule, kindOf] of RULES[language]) {
      const found = matchAt(rule, line, at);
      if (found === null || found === "") continue;
      text = found;
      kind = kindOf(found, line.slice(0, at));
      break;
    }
    push(tokens, kind, text);
    at += text.length;
  }
  return { tokens, state };
}

export function tokenize(line: string, language: Language, state: LineState = ""): Token[] {
  return scan(line, language, state).tokens;
}

// What each line begins inside of, so that any of them can be shown without those before it.
export function lineStates(lines: (string | null)[], language: Language): LineState[] {
  let state: LineState = "";
  return lines.map((line) => {
    const before = state;
    state = line === null ? "" : scan(line, language, state).state;
    return before;
  });
}

export function languageOf(path: string): Language {
  if (/\.(cu|cuh|c|cc|cpp|cxx|h|hpp|inl)$/i.test(path)) return "cuda";
  if (/\.pyi?$/i.test(path)) return "python";
  if (/\.ptx$/i.test(path)) return "ptx";
  return "plain";
}
