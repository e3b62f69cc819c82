import { buildScaler, checkValue, isOtherKind } from './parse-scaler.js';
import {
  finding,
  inLineOrder,
  internalErrorMessage,
  locateAll,
  type LocatedDocument,
  unplacedProblem,
} from '../problems/finding.js';
import { isPlainObject, mergePlain, valueAt } from '../plain-json.js';
import type { Position, Problem } from '../problems/problem.js';
import { eachYamlDocument } from '../yaml/read-yaml.js';
import { findPastDates } from '../rules/schedule-rules.js';
import { type ServiceFacts, checkAdmission } from '../rules/admission-rules.js';
import { type Scaler, scalerKey } from '../spec.js';
import { listSome } from '../../units/format.js';
import type { Instant } from '../../units/time.js';
import { groupBy } from '../../units/maps.js';

export interface ReadOptions {
  /**
   * `defaults` of the service config. They are merged into each `spec` key by key; values of the document take
   * precedence.
   */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Data sources and namespaces of the service config. Default: references to them are not checked. */
  readonly service?: ServiceFacts;
  /** The current time, for warnings about past dates. Default: there are no such warnings. */
  readonly now?: Instant;
}

export interface ReadDocument {
  /** `NAMESPACE/NAME`; null: the document has no name or cannot be parsed. */
  readonly key: string | null;
  /** The scaler; null: the document has an error. */
  readonly scaler: Scaler | null;
  readonly problems: readonly Problem[];
  readonly file: string;
  /** The position of `metadata.name`, at which duplicates are reported. */
  readonly place: Position | null;
  readonly nameLine: string | null;
}

export function readDocuments(
  text: string,
  file: string,
  options: ReadOptions = {},
): readonly ReadDocument[] {
  return [...eachOfText(text, file, options)];
}

export function* eachOfText(text: string, file: string, options: ReadOptions = {}): Generator<ReadDocument> {
  for (const document of withoutOtherKinds(eachYamlDocument(text, file)))
    yield readLocated(document, file, options);
}

/**
 * Omits documents of other kinds if there is a Scaler among them, as in the output of `helm template`. If there is no
 * Scaler, the file was probably passed by mistake, so each of its documents is a problem.
 */
export function* withoutOtherKinds(documents: Iterable<LocatedDocument>): Generator<LocatedDocument> {
  const others: LocatedDocument[] = [];
  let hasScaler = false;
  for (const document of documents) {
    if (isOtherKind(document.value)) others.push(document);
    else {
      hasScaler ||= valueAt(document.value, ['kind']) !== undefined;
      yield document;
    }
  }
  if (!hasScaler) yield* others;
}

/** Reads a document. Never throws: an internal error becomes a problem of the document. */
export function readLocated(document: LocatedDocument, file: string, options: ReadOptions): ReadDocument {
  try {
    return checkAndBuild(document, file, options);
  } catch (cause) {
    return failedDocument(keyOf(document.value), file, cause);
  }
}

export function failedDocument(key: string | null, file: string, cause: unknown): ReadDocument {
  const problem = unplacedProblem({ code: 'internal-error', message: internalErrorMessage(cause) }, file);
  return { key, scaler: null, problems: [problem], file, place: null, nameLine: null };
}

function checkAndBuild(document: LocatedDocument, file: string, options: ReadOptions): ReadDocument {
  const { value, problems: textProblems, locate } = document;
  if (value === undefined) {
    return { key: null, scaler: null, problems: textProblems, file, place: null, nameLine: null };
  }
  const merged = withDefaults(value, options.defaults);
  const { findings, document: input } = checkValue(merged, options.service);
  const name = locate(finding('duplicate-document', ['metadata', 'name'], ''));
  const past = options.now === undefined ? [] : findPastDates(merged, options.now);
  const admission = options.service === undefined ? [] : checkAdmission(merged, options.service);
  const located = locateAll([...findings, ...past, ...admission], locate);
  const problems = inLineOrder([...textProblems.filter((one) => !isSaidBy(located, one)), ...located]);
  const isRefused = problems.some(({ severity }) => severity === 'error');
  return {
    key: keyOf(value),
    scaler: isRefused || input === null ? null : buildScaler(input),
    problems,
    file,
    place: name.place,
    nameLine: name.sourceLine,
  };
}

/**
 * Returns whether a problem is redundant: it is a warning about a YAML version, and an error at the same position
 * already says that the value has the wrong type.
 */
function isSaidBy(errors: readonly Problem[], { code, place }: Problem): boolean {
  const isThere = (error: Problem): boolean =>
    error.code === 'wrong-type' && error.place?.line === place?.line && error.place?.column === place?.column;
  return code === 'yaml-version' && errors.some(isThere);
}

/**
 * Returns the document with `defaults` of the service config merged into its `spec`. A value without a `spec` is
 * unchanged.
 */
export function withDefaults(value: unknown, defaults: ReadOptions['defaults']): unknown {
  if (defaults === undefined || !isPlainObject(value) || !isPlainObject(value['spec'])) return value;
  return { ...value, spec: mergePlain(defaults, value['spec']) };
}

/**
 * Returns `NAMESPACE/NAME`. Null for other kinds: a Deployment in the same file often has the name of its scaler, but
 * is not a duplicate.
 */
function keyOf(value: unknown): string | null {
  const kind = valueAt(value, ['kind']);
  if (typeof kind === 'string' && kind !== 'Scaler') return null;
  const namespace = valueAt(value, ['metadata', 'namespace']);
  const name = valueAt(value, ['metadata', 'name']);
  return typeof namespace === 'string' && typeof name === 'string' ? scalerKey({ namespace, name }) : null;
}

/**
 * Rejects all documents with the same namespace and name, because any of them may be the mistake. Only the first
 * document gets the problem, which names the other ones.
 */
export function refuseDuplicates(documents: readonly ReadDocument[]): readonly ReadDocument[] {
  const byKey = groupBy(documents, ({ key }) => key);
  return documents.map((document) => {
    const [first, ...others] = byKey.get(document.key) ?? [];
    if (document.key === null || first === undefined || others.length === 0) return document;
    const problems = document === first ? [duplicateOf(first, others)] : [];
    return { ...document, scaler: null, problems: inLineOrder([...document.problems, ...problems]) };
  });
}

function duplicateOf(document: ReadDocument, others: readonly ReadDocument[]): Problem {
  const places = others.map(({ file, place }) => `${file}${place === null ? '' : `:${place.line}`}`);
  const used = places.length === 1 ? 'neither of the two' : 'none of them';
  const message = `${document.key ?? ''} is also in ${listSome(places)}: the service uses ${used}; a version that is already in effect stays in effect. A file takes precedence over a Scaler object`;
  return {
    code: 'duplicate-document',
    severity: 'error',
    message,
    file: document.file,
    place: document.place,
    path: 'metadata.name',
    sourceLine: document.nameLine,
  };
}

export function readScalers(
  text: string,
  file: string,
  options: ReadOptions = {},
): { readonly scalers: readonly Scaler[]; readonly problems: readonly Problem[] } {
  const documents = refuseDuplicates(readDocuments(text, file, options));
  return {
    scalers: documents.flatMap(({ scaler }) => (scaler === null ? [] : [scaler])),
    problems: documents.flatMap(({ problems }) => problems),
  };
}
