import type { ObjectVerdict } from '../../config/add-objects.js';
import type { Problem } from '../../scaler/problems/problem.js';
import type { UntimedCondition } from './object-status.js';

/** Reasons that lie outside of the document, in order of precedence. */
const REASONS: readonly (readonly [code: string, reason: string])[] = [
  ['duplicate-document', 'Duplicate'],
  ['namespace-not-watched', 'NamespaceNotWatched'],
];

/** Returns the condition `Accepted`: whether the document of an object is in effect, and its problems, one per line. */
export function accepted({ problems, scaler }: ObjectVerdict): UntimedCondition {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) {
    const message = ['the document is in effect', ...problems.map(lineOf)].join('\n');
    return { type: 'Accepted', status: 'True', reason: 'Accepted', message };
  }
  const fallback = scaler === null ? [] : ['the last valid version stays in effect'];
  const message = [...errors.map(lineOf), ...fallback].join('\n');
  return { type: 'Accepted', status: 'False', reason: reasonOf(errors), message };
}

function reasonOf(errors: readonly Problem[]): string {
  const elsewhere = REASONS.find(([code]) => errors.some((error) => error.code === code));
  if (elsewhere !== undefined) return elsewhere[1];
  return errors.every(({ code }) => code === 'source-not-admitted') ? 'SourceNotAdmitted' : 'Invalid';
}

/** Most messages already begin with the path. */
function lineOf({ path, message }: Problem): string {
  return path === '' || message.startsWith(path) ? message : `${path}: ${message}`;
}
