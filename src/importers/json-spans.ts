/** A part of a text. */
export interface JsonSpan {
  readonly from: number;
  readonly to: number;
}

/** Returns the spans of concatenated JSON values, such as the output of `jq '.items[]'`. */
export function valuesOf(text: string): readonly JsonSpan[] {
  const spans: JsonSpan[] = [];
  let from = 0;
  for (const { at, depth, mark } of bracketsOf(text, 0)) {
    if (depth > 0 || mark === ',') continue;
    spans.push({ from, to: at + 1 });
    from = at + 1;
  }
  return text.slice(from).trim() === '' ? spans : [...spans, { from, to: text.length }];
}

interface Elements {
  readonly spans: readonly JsonSpan[];
  /** Position of the end of the array; null: the text ends before. */
  readonly end: number | null;
}

/** Returns the spans of the elements of an array that starts before `from`. */
export function elementsOf(text: string, from: number): Elements {
  const spans: JsonSpan[] = [];
  let start = from;
  const add = (to: number): void => {
    if (text.slice(start, to).trim() !== '') spans.push({ from: start, to });
    start = to + 1;
  };
  for (const { at, depth, mark } of bracketsOf(text, from)) {
    if (depth < 0) {
      add(at);
      return { spans, end: at };
    }
    if (depth === 0 && mark === ',') add(at);
  }
  add(text.length);
  return { spans, end: null };
}

interface Mark {
  readonly at: number;
  readonly mark: string;
  /** Number of open brackets after this position, counted from the start. */
  readonly depth: number;
}

const MARKS = /["{}[\],]/g;
const END_OF_STRING = /(?:[^"\\]|\\[\s\S])*"/y;

/** Yields brackets, and commas between elements at depth 0, outside of strings. */
function* bracketsOf(text: string, from: number): Generator<Mark> {
  let depth = 0;
  let next = from;
  for (;;) {
    MARKS.lastIndex = next;
    const found = MARKS.exec(text);
    if (found === null) return;
    const [mark] = found;
    next = found.index + 1;
    if (mark === '"') {
      END_OF_STRING.lastIndex = next;
      next = END_OF_STRING.test(text) ? END_OF_STRING.lastIndex : text.length;
      continue;
    }
    if (mark === '{' || mark === '[') depth += 1;
    else if (mark !== ',') depth -= 1;
    else if (depth !== 0) continue;
    yield { at: found.index, mark, depth };
    depth = Math.max(0, depth);
  }
}
