import type { Failure } from '../../document-tests/document-test.js';

/** Returns a diff: `-` is the expectation of the test, `+` the decision. */
export function failureLines({ expectation, mismatches, reason }: Failure): readonly string[] {
  const line = expectation.place === null ? '' : ` (line ${expectation.place.line})`;
  return [
    `at ${timeOf(expectation)}${line}:`,
    ...mismatches.flatMap(({ field, expected, actual }) => [
      `  - ${field}: ${show(expected)}`,
      `  + ${field}: ${show(actual)}`,
    ]),
    `  reason: ${reason}`,
  ];
}

/** Names the round if the time of an expectation is between two rounds. */
function timeOf({ at, atSeconds, roundSeconds }: Failure['expectation']): string {
  return atSeconds === roundSeconds ? at : `${at}, in the round at ${roundSeconds}s`;
}

function show(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  return value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
}
