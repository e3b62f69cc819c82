import type { ObjectVerdict } from '../../config/object-set.js';
import type { Problem } from '../../scaler/problems/problem.js';
import type { StatedCondition } from './object-status.js';

/** Problems that a person mends elsewhere than in the document, the first of them that is there. */
const REASONS: readonly (readonly [code: string, reason: string])[] = [
  ['duplicate-document', 'Duplicate'],
  ['namespace-not-watched', 'NamespaceNotWatched'],
];

/** Whether the document that an object holds is in force; the message has its problems, one a line. */
export function accepted({ problems, scaler }: ObjectVerdict): StatedCondition {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) {
    const message = ['the document is in force', ...problems.map(lineOf)].join('\n');
    return { type: 'Accepted', status: 'True', reason: 'Accepted', message };
  }
  const goesOn = scaler === null ? [] : ['the last valid version stays in force'];
  const message = [...errors.map(lineOf), ...goesOn].join('\n');
  return { type: 'Accepted', status: 'False', reason: reasonOf(errors), message };
}

function reasonOf(errors: readonly Problem[]): string {
  const elsewhere = REASONS.find(([code]) => errors.some((error) => error.code === code));
  if (elsewhere !== undefined) return elsewhere[1];
  return errors.every(({ code }) => code === 'source-not-admitted') ? 'SourceNotAdmitted' : 'Invalid';
}

/** `spec.minReplicas: sentence`; most sentences begin with the path already. */
function lineOf({ path, message }: Problem): string {
  return path === '' || message.startsWith(path) ? message : `${path}: ${message}`;
}
