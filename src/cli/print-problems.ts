import colors from 'picocolors';
import { formatProblem } from '../scaler/format-problem.js';
import type { Problem } from '../scaler/problem.js';
import type { OutputStream } from './io.js';

/** Writes each problem with its source line and caret; in color on a terminal. */
export function printProblems(problems: readonly Problem[], stream: OutputStream): void {
  for (const problem of problems) stream.write(`${colored(problem, stream.isTerminal)}\n`);
}

function colored(problem: Problem, isTerminal: boolean): string {
  const paint = colors.createColors(isTerminal);
  const [head = '', ...rest] = formatProblem(problem).split('\n');
  const severity = problem.severity === 'error' ? paint.red : paint.yellow;
  const painted = head.replace(`${problem.severity}: `, `${severity(problem.severity)}: `);
  return [painted, ...rest.map((line) => (line.endsWith('^') ? paint.green(line) : line))].join('\n');
}

/** `2 errors, 1 warning`. */
export function countProblems(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return `${plural(errors, 'error')}, ${plural(problems.length - errors, 'warning')}`;
}

/** `1 file`, `2 files`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Whether any of the problems refuses what it is about. */
export function hasError(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === 'error');
}
