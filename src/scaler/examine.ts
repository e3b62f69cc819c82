import { checkSchema } from './check-schema.js';
import { type Finding, type Path, finding } from './rules/finding.js';
import { nearest } from './problems/nearest.js';
import { isPlainObject, readPlain } from './plain.js';
import { PROBLEM_CLASSES } from './problems/problem-codes.js';
import { checkRules } from './rules/rules.js';
import { type DocumentInput, type Loose, documentSchema } from './schema.js';

/** What the checks say of one document that stands for itself. */
export interface Examined {
  readonly findings: readonly Finding[];
  /** Null where some finding leaves the document without a meaning. */
  readonly document: DocumentInput | null;
}

/**
 * Everything wrong with a plain value as a scaler document, at once: the rules over several fields look at whatever
 * could be read, also beside wrong types and unknown fields.
 */
export function examine(value: unknown): Examined {
  const plain = readPlain(value);
  const wrongKind = checkKind(plain.value);
  if (wrongKind !== null) return { findings: [wrongKind], document: null };
  const checked = checkSchema(documentSchema, plain.value);
  const earlier = [...plain.findings, ...checked.findings];
  const isBroken = (path: Path): boolean =>
    earlier.some((other) => path.every((step, index) => other.path[index] === step));
  // What is left in `readable` has passed the schema, piece by piece.
  const readable = isPlainObject(checked.readable) ? (checked.readable as Loose<DocumentInput>) : {};
  const findings = [...earlier, ...checkRules(readable, isBroken)];
  const hasShape = findings.every(({ code }) => PROBLEM_CLASSES[code] !== 'shape');
  return { findings, document: hasShape ? checked.value : null };
}

/** A document of another kind gets this one problem: all its fields would be unknown, too. */
function checkKind(value: unknown): Finding | null {
  const kind = isPlainObject(value) ? value['kind'] : undefined;
  if (typeof kind !== 'string' || kind === 'Scaler') return null;
  const isMisspelt = nearest(kind, ['Scaler']) !== null;
  const hint = isMisspelt ? '; did you mean "Scaler"?' : '';
  return finding(
    'wrong-kind',
    ['kind'],
    `kind is ${kind}, must be Scaler${hint}${KIND_HINTS.get(kind) ?? ''}`,
  );
}

const PASTE = '; its spec can stay, under apiVersion: promscaler.dev/v1 and kind: Scaler';
const PASTE_CHPA = `${PASTE}, with preset: chpa for its defaults`;

const KIND_HINTS: ReadonlyMap<string, string> = new Map([
  ['HorizontalPodAutoscaler', PASTE],
  ['CHPA', PASTE_CHPA],
  ['ConfigurableHorizontalPodAutoscaler', PASTE_CHPA],
  [
    'ScaledObject',
    '; its minReplicaCount, maxReplicaCount and prometheus triggers become minReplicas, maxReplicas and external metrics, each a query with a target.averageValue',
  ],
  ['List', '; write its items as documents, with --- between them'],
]);
