import { type Finding, formatPath } from './finding.js';
import { PROBLEM_CLASSES } from './problem-codes.js';
import type { Problem } from './problem.js';

/** Messages and paths can contain names and keys of the document, which may be 1 MiB long. */
const LONGEST_MESSAGE = 1000;
const LONGEST_PATH = 500;

/** Returns a problem without line and column, for a whole file or a value that has no source. */
export function unplacedProblem(
  { code, message, path = [] }: Pick<Finding, 'code' | 'message'> & Partial<Pick<Finding, 'path'>>,
  file: string | null = null,
): Problem {
  return {
    code,
    severity: PROBLEM_CLASSES[code] === 'warning' ? 'warning' : 'error',
    message: cutOff(message, LONGEST_MESSAGE),
    file,
    place: null,
    path: cutOff(formatPath(path), LONGEST_PATH),
    sourceLine: null,
  };
}

function cutOff(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}...`;
}
