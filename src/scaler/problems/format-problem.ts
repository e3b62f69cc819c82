import { cleanText } from '../../units/clean-text.js';
import type { Problem } from './problem.js';

const WIDEST_LINE = 120;
const KEPT_BEFORE_CARET = 60;

/**
 * Returns file, line, column and message, then the source line with a caret. No final newline.
 *
 *     scalers/web.yaml:12:16: error: spec.minReplicas is 5, must be at most spec.maxReplicas (3) [replica-bounds]
 *       12 |   minReplicas: 5
 *          |                ^
 */
export function formatProblem(problem: Problem): string {
  const { code, severity, message, file, place, path, sourceLine } = problem;
  const where = [file, place?.line, place?.column].filter((part) => part !== null && part !== undefined);
  const prefix = where.length > 0 ? where.join(':') : path;
  const head = `${prefix === '' ? '' : `${cleanText(prefix)}: `}${severity}: ${cleanText(message)} [${code}]`;
  if (place === null || sourceLine === null) return head;
  const gutter = String(place.line).padStart(4);
  const { text, column } = cutLine(sourceLine, place.column);
  const indent = text.slice(0, column - 1).replace(/[^\t]/g, ' ');
  return `${head}\n${gutter} | ${cleanText(text)}\n${' '.repeat(gutter.length)} | ${indent}^`;
}

function cutLine(line: string, column: number): { readonly text: string; readonly column: number } {
  if (line.length <= WIDEST_LINE) return { text: line, column };
  const from = Math.max(0, column - 1 - KEPT_BEFORE_CARET);
  const before = from > 0 ? '...' : '';
  const after = from + WIDEST_LINE < line.length ? '...' : '';
  return {
    text: `${before}${line.slice(from, from + WIDEST_LINE)}${after}`,
    column: column - from + before.length,
  };
}
