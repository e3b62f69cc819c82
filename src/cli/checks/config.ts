import { kubectl } from '../../decision/snippet.js';
import { OBJECTS_PATH, type Problem } from '../../scaler/problems/problem.js';
import type { ProblemCode } from '../../scaler/problems/problem-codes.js';
import { countOf } from '../../units/format.js';
import { type CheckResult, resultsOf } from './check-result.js';

export const DOCUMENTS_FIX =
  'set scalers.paths in the service config and pass the config with --config FILE; `promscaler validate --live FILE` checks a document without a config; `promscaler new` writes a first document';

/**
 * Problems that `doctor` does not report as warnings, because a document must explicitly allow them, as an import from
 * KEDA does. `validate` warns about them, and the check `query` warns as long as a missing metric counts as 0.
 */
const CHOSEN: ReadonlySet<string> = new Set<ProblemCode>(['missing-is-zero', 'missing-scales-down']);

interface ReadDocuments {
  readonly configFile: string | undefined;
  /** The number of valid documents. A rejected document is not counted, even if its last valid version is in effect. */
  readonly documents: number;
  readonly problems: readonly Problem[];
}

export function checkConfig({ configFile, documents, problems }: ReadDocuments): readonly CheckResult[] {
  const chosen = problems.filter(({ code }) => CHOSEN.has(code));
  const others = problems.filter(({ code }) => !CHOSEN.has(code));
  const facts = chosen.map(({ message, file }) =>
    resultsOf('config', 'config').ok(`${file === null ? '' : `${file}: `}${message}`),
  );
  if (others.length > 0) return [...others.map(resultOfProblem), ...facts];
  const config = configFile ?? 'without --config, every field of the service config has its default';
  return [resultsOf('config', 'config').ok(`${config}; ${countOf(documents, 'valid document')}`), ...facts];
}

export function resultOfProblem({ severity, message, file, place, code, path }: Problem): CheckResult {
  const build = resultsOf('config', 'config')[severity === 'error' ? 'failed' : 'warning'];
  const where = file === null ? '' : `${file}${place === null ? '' : `:${place.line}:${place.column}`}: `;
  // The message about an unreadable file already starts with the name of the file.
  const prefix = `reading ${file ?? ''}`;
  const text = message.startsWith(prefix) ? message.slice(`${prefix}: `.length) : message;
  const isMissing = code === 'no-documents' || code === 'unreadable';
  return build(`${where}${text}`, isMissing ? DOCUMENTS_FIX : fixOf({ file, code, path }));
}

function fixOf({ file, code, path }: Pick<Problem, 'file' | 'code' | 'path'>): string {
  const [namespace, name] = file?.startsWith(`${OBJECTS_PATH}/`) === true ? file.split('/').slice(1) : [];
  const object =
    namespace === undefined || name === undefined ? null : `${OBJECTS_PATH} ${name} -n ${namespace}`;
  if (code === 'duplicate-document')
    return `delete one of the documents${object === null ? '' : `; to delete the object: kubectl delete ${object}`}`;
  // The path is for example `metadata.annotations["promscaler.dev/paused"]`.
  const [, key = ''] = /\["(.+)"\]$/.exec(path) ?? [];
  if (code === 'annotation-ignored' && namespace !== undefined && name !== undefined)
    return kubectl(namespace, 'annotate', OBJECTS_PATH, name, `${key}-`).text;
  return object === null
    ? `correct the document; promscaler validate ${file ?? 'PATH'} shows the line`
    : `correct the object with kubectl edit ${object}`;
}
