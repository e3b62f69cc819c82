import { checkDocument } from './check-document.js';
import { finding } from './problems/finding.js';
import { buildScaler } from './parse-scaler.js';
import { isPlainObject, mergePlain, valueAt } from './plain-json.js';
import { internalErrorMessage } from './problems/internal-error.js';
import { type LocatedDocument, placeAll } from './problems/located-document.js';
import { unplacedProblem } from './problems/unplaced-problem.js';
import type { Place, Problem } from './problems/problem.js';
import { eachYamlDocument } from './yaml/read-yaml.js';
import { findPast } from './rules/past-dates.js';
import { type ServiceFacts, checkAdmission } from './rules/admission-rules.js';
import { type Scaler, scalerKey } from './spec.js';
import type { Instant } from '../units/time.js';

/** What documents are read against. */
export interface ReadOptions {
  /** The service config's `defaults`: merged into each spec, key by key; lists and scalars of the document win. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** What the service config admits; left out, nothing is known of it and nothing is checked. */
  readonly service?: ServiceFacts;
  /** The present, for warnings of dates that have passed; left out, none is looked at. */
  readonly now?: Instant;
}

/** One scaler document that was read, or could not be. */
export interface ReadDocument {
  /** `NAMESPACE/NAME`; null where the document does not say it, or cannot be read so far. */
  readonly key: string | null;
  /** Null where one of the problems is an error. */
  readonly scaler: Scaler | null;
  readonly problems: readonly Problem[];
  readonly file: string;
  /** Where the name stands, for a message about a second document of that name. */
  readonly place: Place | null;
  readonly nameLine: string | null;
}

/** All documents of one file, each with its own problems. `file` is what the user calls it. */
export function readDocuments(
  text: string,
  file: string,
  options: ReadOptions = {},
): readonly ReadDocument[] {
  return [...eachDocument(text, file, options)];
}

/** The same one by one: each is read when it is asked for. */
export function* eachDocument(
  text: string,
  file: string,
  options: ReadOptions = {},
): Generator<ReadDocument> {
  for (const document of eachYamlDocument(text, file)) yield readScalerDocument(document, file, options);
}

/** The scaler of one YAML document, or what is wrong with it. Never throws: a fault is a problem of this document. */
export function readScalerDocument(
  document: LocatedDocument,
  file: string,
  options: ReadOptions,
): ReadDocument {
  try {
    return readChecked(document, file, options);
  } catch (cause) {
    return failedDocument(keyOf(document.value), file, cause);
  }
}

/** A document that could not be read by a fault of ours. */
export function failedDocument(key: string | null, file: string, cause: unknown): ReadDocument {
  const problem = unplacedProblem({ code: 'internal-error', message: internalErrorMessage(cause) }, file);
  return { key, scaler: null, problems: [problem], file, place: null, nameLine: null };
}

function readChecked(document: LocatedDocument, file: string, options: ReadOptions): ReadDocument {
  const { value, problems: textProblems, place } = document;
  if (value === undefined) {
    return { key: null, scaler: null, problems: textProblems, file, place: null, nameLine: null };
  }
  const merged = withDefaults(value, options.defaults);
  const { findings, document: input } = checkDocument(merged, options.service);
  const name = place(finding('duplicate-document', ['metadata', 'name'], ''));
  const past = options.now === undefined ? [] : findPast(merged, options.now);
  const admission = options.service === undefined ? [] : checkAdmission(merged, options.service);
  const problems = [...textProblems, ...placeAll([...findings, ...past, ...admission], place)];
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

function withDefaults(value: unknown, defaults: ReadOptions['defaults']): unknown {
  if (defaults === undefined || !isPlainObject(value) || !isPlainObject(value['spec'])) return value;
  return { ...value, spec: mergePlain(defaults, value['spec']) };
}

/** A Deployment beside its scaler in one file often has the same name: it is wrong there, but no second scaler. */
function keyOf(value: unknown): string | null {
  const kind = valueAt(value, ['kind']);
  if (typeof kind === 'string' && kind !== 'Scaler') return null;
  const namespace = valueAt(value, ['metadata', 'namespace']);
  const name = valueAt(value, ['metadata', 'name']);
  return typeof namespace === 'string' && typeof name === 'string' ? scalerKey({ namespace, name }) : null;
}

/** The same documents, those that share namespace and name with another one refused: none of them is the right one. */
export function refuseDuplicates(documents: readonly ReadDocument[]): readonly ReadDocument[] {
  const byKey = new Map<string, ReadDocument[]>();
  for (const document of documents) {
    if (document.key === null) continue;
    const same = byKey.get(document.key);
    if (same === undefined) byKey.set(document.key, [document]);
    else same.push(document);
  }
  return documents.map((document) => {
    const other = byKey.get(document.key ?? '')?.find((candidate) => candidate !== document);
    if (other === undefined) return document;
    return { ...document, scaler: null, problems: [...document.problems, duplicateOf(document, other)] };
  });
}

function duplicateOf(document: ReadDocument, other: ReadDocument): Problem {
  const line = other.place === null ? '' : `:${other.place.line}`;
  const message = `${document.key ?? ''} is also in ${other.file}${line}: both are refused`;
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

/** The scalers of one file and all that is wrong with its documents; a document with an error gives no scaler. */
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
