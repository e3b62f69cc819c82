import { OBJECTS_PATH } from '../scaler/problems/problem.js';
import { quoteForShell } from '../units/clean-text.js';

/** A command is for a shell. A line of the document and a query of Prometheus are not. */
export interface Snippet {
  readonly kind: 'command' | 'edit' | 'query';
  readonly text: string;
  /** The query in the UI of Prometheus; unset: unknown. */
  readonly graphUrl?: string;
}

export interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** Returns `NAMESPACE/NAME` for a shell. */
export function keyOf({ namespace, name }: Named): string {
  return quoteForShell(`${namespace}/${name}`);
}

export function patchObject(named: Named, spec: Readonly<Record<string, unknown>>): Snippet {
  return command(patchCommand(named, JSON.stringify({ spec })));
}

/** Returns the command that applies a JSON merge patch to a Scaler object. */
export function patchCommand({ namespace, name }: Named, patch: string): string {
  return kubectl(namespace, 'patch', OBJECTS_PATH, name, '--type=merge', '-p', patch).text;
}

export function kubectl(namespace: string, verb: string, ...words: readonly string[]): Snippet {
  return command(['kubectl', verb, '-n', namespace, ...words].map(quoteForShell).join(' '));
}

export function command(text: string): Snippet {
  return { kind: 'command', text };
}
