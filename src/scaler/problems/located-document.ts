import { type Finding, capFindings } from './finding.js';
import type { Position, Problem } from './problem.js';

export interface LocatedDocument {
  /** Plain JSON; undefined if the document could not be read. */
  readonly value: unknown;
  /** Problems found while parsing. A YAML document with duplicate keys has problems and a value. */
  readonly problems: readonly Problem[];
  /** Adds the file to a finding and, for YAML, line and column. */
  readonly locate: (finding: Finding) => Problem;
}

/** Returns at most `MAX_FINDINGS` problems, sorted by line and column. */
export function locateAll(
  findings: readonly Finding[],
  locate: LocatedDocument['locate'],
): readonly Problem[] {
  return capFindings(findings)
    .map(locate)
    .sort((a, b) => compare(a.place, b.place));
}

function compare(a: Position | null, b: Position | null): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}
