import { Composer, type CST, type Document, type LineCounter, Parser } from 'yaml';

/**
 * Yields the parsed documents of YAML on demand. Malicious YAML can have an error per character: only the first syntax
 * error of a document is kept, and errors have no stack, which would take ten times as long as parsing.
 */
export function* composeDocuments(text: string, lines: LineCounter): Generator<Document> {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({ uniqueKeys: false, stringKeys: true, merge: false, logLevel: 'silent' });
  const documents = composer.compose(firstErrors(parser.parse(text)));
  for (;;) {
    const next = withoutStacks(() => documents.next());
    if (next.done === true) return;
    yield next.value;
  }
}

function* firstErrors(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  let hasError = false;
  for (const token of tokens) {
    if (token.type === 'document') hasError = false;
    if (token.type === 'error' && hasError) continue;
    hasError ||= token.type === 'error';
    yield token;
  }
}

function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
