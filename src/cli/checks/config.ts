import { kubectl } from '../../decision/snippet.js';
import { OBJECTS_PATH, type Problem } from '../../scaler/problems/problem.js';
import { countOf } from '../../units/format.js';
import { type CheckResult, resultsOf } from './check-result.js';

export const DOCUMENTS_FIX =
  'set scalers.paths in the service config and pass the config with --config FILE; `promscaler validate --live FILE` checks a document without a config; `promscaler new` writes a first document';

interface ReadDocuments {
  readonly configFile: string | undefined;
  readonly documents: number;
  readonly problems: readonly Problem[];
}

export function checkConfig({ configFile, documents, problems }: ReadDocuments): readonly CheckResult[] {
  if (problems.length > 0) return problems.map(resultOf);
  const config = configFile ?? 'no --config: every field has its default';
  return [resultsOf('config', 'config').ok(`${config}; ${countOf(documents, 'document')}`)];
}

function resultOf({ severity, message, file, place, code, path }: Problem): CheckResult {
  const build = resultsOf('config', 'config')[severity === 'error' ? 'failed' : 'warning'];
  const where = file === null ? '' : `${file}${place === null ? '' : `:${place.line}:${place.column}`}: `;
  // The message of an unreadable file starts with the file name.
  const prefix = `reading ${file ?? ''}`;
  const text = message.startsWith(prefix) ? message.slice(`${prefix}: `.length) : message;
  const isMissing = code === 'no-documents' || code === 'unreadable';
  return build(`${where}${text}`, isMissing ? DOCUMENTS_FIX : fixOf({ file, code, path }));
}

/** Returns the key at the end of a path such as `metadata.annotations["promscaler.dev/paused"]`. */
function annotationIn(path: string): string {
  return /\["(.+)"\]$/.exec(path)?.[1] ?? '';
}

function fixOf({ file, code, path }: Pick<Problem, 'file' | 'code' | 'path'>): string {
  const [namespace, name] = file?.startsWith(`${OBJECTS_PATH}/`) === true ? file.split('/').slice(1) : [];
  const object =
    namespace === undefined || name === undefined ? null : `${OBJECTS_PATH} ${name} -n ${namespace}`;
  if (code === 'duplicate-document')
    return `delete one of the documents${object === null ? '' : `; the object with kubectl delete ${object}`}`;
  if (code === 'annotation-ignored' && namespace !== undefined && name !== undefined)
    return kubectl(namespace, 'annotate', OBJECTS_PATH, name, `${annotationIn(path)}-`).text;
  const step = code === 'missing-is-zero' ? `remove ${path.split('.').at(-1) ?? ''}` : null;
  return object === null
    ? `${step ?? 'correct it'}; promscaler validate ${file ?? 'PATH'} shows the line`
    : `${step ?? 'correct the object'}, and apply it again: kubectl edit ${object}`;
}
