import { expect } from '@jest/globals';
import { stringify } from 'yaml';
import { type Draft, isIncomplete } from '../../src/importers/draft/draft.js';
import type { ImportContext } from '../../src/importers/manifest/context.js';
import { remarkLine } from '../../src/importers/import-object.js';
import { type ImportedManifest, importObjects } from '../../src/importers/import-objects.js';
import { NO_QUERIES } from '../../src/importers/manifest/named-metric.js';
import { readManifests } from '../../src/importers/read-manifests.js';
import { valueAt } from '../../src/scaler/plain-json.js';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { documentOf } from '../../src/importers/draft/write-document.js';
import type { Problem } from '../../src/scaler/problems/problem.js';
import type { Scaler } from '../../src/scaler/spec.js';

const CONTEXT: Omit<ImportContext, 'sources'> = {
  namespace: 'default',
  isNamespaceGiven: true,
  queries: NO_QUERIES,
  isDryRun: false,
};

/** A printed document and its remarks. */
export interface Imported {
  readonly text: string;
  /** Lines of standard error, without the file. */
  readonly lost: readonly string[];
  /** Null: nothing was printed. */
  readonly scaler: Scaler | null;
  /** The document without comments. */
  readonly spec: unknown;
}

/** Imports all objects of a text. Fails if a printed document is invalid. */
export function importAll(text: string, context: Partial<ImportContext> = {}): readonly Imported[] {
  const { values, problems } = readManifests(text, 'x.yaml');
  expect(problems).toEqual([]);
  return importObjects(values, { ...CONTEXT, ...context }).objects.map(check);
}

/** Imports the only object of a text. */
export function importOne(text: string, context: Partial<ImportContext> = {}): Imported {
  const [only, second] = importAll(text, context);
  if (only === undefined || second !== undefined) throw new Error('not exactly one object');
  return only;
}

/**
 * Checks the invariants of every import: a document that is valid, or has placeholders where the user must complete it,
 * and a comment for every loss.
 */
export function check({ text, label, remarks, draft }: ImportedManifest): Imported {
  const lost = remarks.filter(({ kind }) => kind === 'loss').map((remark) => remarkLine(label, remark));
  if (text === null) {
    expect(lost).not.toEqual([]);
    return { text: '', lost, scaler: null, spec: null };
  }
  const isOpen = draft !== null && isIncomplete(draft);
  const codes = errorsOf(text).map(({ code }) => code);
  expect({ isRejected: codes.length > 0, isOpen: codes.includes('placeholder'), text }).toEqual({
    isRejected: isOpen,
    isOpen,
    text,
  });
  const closed = isOpen ? withoutOpen(draft) : null;
  const read = closed === null ? text : stringify(documentOf(withMetric(closed)));
  const { scalers } = readScalers(read, 'out.yaml');
  expect(scalers).toHaveLength(1);
  const [scaler] = scalers;
  const comments = commentText(text);
  for (const { message, kind } of remarks) {
    const [line = ''] = message.split('\n');
    const shown = words(line).slice(0, 1500);
    if (kind === 'loss' && isPrintable(line)) expect(comments).toContain(shown);
  }
  return {
    text,
    lost,
    scaler: scaler ?? null,
    spec: closed === null ? scaler?.document.spec : specOf(closed),
  };
}

function errorsOf(text: string): readonly Problem[] {
  return readScalers(text, 'out.yaml').problems.filter(({ severity }) => severity === 'error');
}

/** The fields of the document without what the user has to complete, paused if a part of it is commented out. */
function withoutOpen(draft: Draft): Draft {
  const { paused } = draft.spec;
  return { ...draft, spec: { ...draft.spec, ...(paused === 'FILL IN' ? { paused: true } : {}) } };
}

/** A metric to complete may be the one that allows minReplicas: 0. */
function withMetric(draft: Draft): Draft {
  const value = { external: { metric: { name: 'open' }, query: 'vector(0)', target: { value: 1 } } };
  const isTotal = draft.metrics.some(({ value: one, isOff }) => isOff && !('resource' in one));
  return isTotal ? { ...draft, metrics: [...draft.metrics, { value, from: [], isOff: false }] } : draft;
}

function specOf(draft: Draft): unknown {
  return valueAt(documentOf(draft), ['spec']);
}

function isPrintable(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && text.length < 1500;
}

/** Returns all comments in one line, without the marks. */
function commentText(text: string): string {
  const lines = text.split('\n').map((line) => /^\s*# ?(.*)$/.exec(line)?.[1] ?? '');
  return words(lines.join(' '));
}

function words(text: string): string {
  return text.split(/\s+/).join(' ').trim();
}

/** Returns the document after a user has uncommented its YAML and filled in this query. */
export function filledIn(text: string, query: string): string {
  return text
    .split('\n')
    .map((line) =>
      /^\s*# (?: *(?:- )?[\w.]+:(?: [^ ]| *$)| *- )/.test(line) && !/^\s*# spec\./.test(line)
        ? line.replace('# ', '')
        : line,
    )
    .join('\n')
    .replaceAll('FILL IN', (_, at: number, all: string) =>
      all.slice(0, at).endsWith('query: ') ? query : 'FILL IN',
    );
}

export function hpaHead(version: string, name = 'web'): string {
  return `
apiVersion: ${version}
kind: HorizontalPodAutoscaler
metadata: { name: ${name}, namespace: shop }
`;
}

export const HPA_TARGET = 'scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }';

/** Returns an HPA of `web` with at most 9 replicas and the lines of `spec`. */
export function hpaYaml(spec: string, version = 'autoscaling/v2'): string {
  return `${hpaHead(version)}spec:\n  ${HPA_TARGET}\n  maxReplicas: 9\n${spec.replace(/^/gm, '  ')}`;
}

export function hpaWithMetric(text: string): string {
  return hpaYaml(`metrics:\n  - ${text}`);
}
