import type { ScalerView, ServiceStatus } from '../../api/answers.js';
import { invalidScalers, rejectionsOf } from '../../telemetry/rejections.js';
import { cleanText } from '../../units/clean-text.js';
import { CommandError, type CommandIo } from '../output/io.js';
import { type NamingOptions, readScalerName } from '../reach/scaler-name.js';
import type { ScalerName } from '../reach/service-pages.js';
import { type ListedScalers, placedLine, type ServiceClient } from '../reach/service-client.js';
import { scalersHint } from '../input/nearest-keys.js';
import { VERSION } from '../output/version.js';

/** The scalers as the service reports them, sorted by namespace and name. */
export interface StatusList extends ListedScalers {
  /** Null: the service does not report its data sources. */
  readonly dataSources: ServiceStatus['dataSources'] | null;
}

/** A scaler that the user has named. `namespace` null: in any namespace. */
interface NamedScaler {
  readonly namespace: string | null;
  readonly name: string;
}

/** The scalers to list. */
export interface Selection {
  /** The namespace of all of them; null: they may be in several namespaces. */
  readonly namespace: string | null;
  /** Empty: all scalers of the namespace. */
  readonly names: readonly NamedScaler[];
}

/** A row of the table: a scaler of the service, or a document without a valid version, which has only a state. */
export type ListedScaler = Partial<ScalerView> & Pick<ScalerView, 'namespace' | 'name' | 'state'>;

export interface SelectionOptions extends NamingOptions {
  /** Each is `NAMESPACE/NAME` or `NAME`. Empty: all scalers. */
  readonly scalers: readonly string[];
  /** Whether to list all namespaces. Overrides `namespace`, as in kubectl. */
  readonly allNamespaces?: boolean;
}

/**
 * Reads which scalers to list. As in other commands, the namespace of the context is the default for a name without a
 * namespace.
 */
export async function readSelection(options: SelectionOptions, io: CommandIo): Promise<Selection> {
  const { scalers, namespace = null, allNamespaces = false } = options;
  if (scalers.length === 0) return { namespace: allNamespaces ? null : namespace, names: [] };
  const named = async (scaler: string): Promise<NamedScaler> =>
    allNamespaces && !scaler.includes('/')
      ? { namespace: null, name: scaler }
      : readScalerName(scaler, options, io);
  const names = await Promise.all(scalers.map(named));
  const [first, ...others] = new Set(names.map((one) => one.namespace));
  return { namespace: others.length === 0 ? (first ?? null) : null, names };
}

function isSelected({ namespace, names }: Selection, row: ScalerName): boolean {
  if (names.length === 0) return namespace === null || row.namespace === namespace;
  return names.some((named) => isNamed(named, row));
}

function isNamed({ namespace, name }: NamedScaler, row: ScalerName): boolean {
  return row.name === name && (namespace === null || row.namespace === namespace);
}

/** Returns the first scaler that the user has named and that has no row; undefined: there is none. */
export function findMissing(rows: readonly ListedScaler[], selection: Selection): NamedScaler | undefined {
  return selection.names.find((named) => !rows.some((row) => isNamed(named, row)));
}

/** Returns the error for a scaler that the user has named and the service does not list. */
export async function explainMissing(
  { namespace, name }: NamedScaler,
  client: ServiceClient,
): Promise<CommandError> {
  if (namespace !== null) return client.explainMissing({ namespace, name });
  const names = new Set((await client.listScalers(null)).rows.map((row) => row.name));
  return new CommandError(
    `${client.where} has no scaler ${name} in any namespace, or the first cycle of the scaler has not finished${scalersHint(name, [...names])}`,
  );
}

export async function listSorted(client: ServiceClient, selection: Selection): Promise<StatusList> {
  const { rows, ...rest } = await client.listScalers(selection.namespace);
  const selected = rows.filter((row) => isSelected(selection, row));
  return { ...rest, rows: sorted(selected), dataSources: await client.readDataSources() };
}

function sorted<T extends Pick<ScalerView, 'namespace' | 'name'>>(rows: readonly T[]): readonly T[] {
  return rows.toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns notes on what the rows do not show: which replica answered, its version, data sources, and documents. */
export function listNotes(where: string, list: StatusList, selection: Selection): readonly string[] {
  const { rows, leader, unreachable, version, problems } = list;
  const standby =
    rows.length === 0
      ? 'a standby replica answered; it has no scalers'
      : 'a standby replica answered, so these rows may be outdated';
  const leading =
    unreachable === 0
      ? standby
      : `${unreachable} of the replicas of the service did not answer, so some scalers are missing`;
  return [
    ...(leader ? [] : [leading]),
    ...(version === VERSION ? [] : [`${where} has version ${version}, this command has ${VERSION}`]),
    ...failingSources(list.dataSources),
    ...rejectedDocuments(problems, selection),
  ];
}

export function failingSources(sources: StatusList['dataSources']): readonly string[] {
  return (sources ?? []).flatMap(({ name, urls, failingSince, lastError }) => {
    if (failingSince === null) return [];
    const at = urls.length === 0 ? '' : ` (${urls.join(', ')})`;
    const error = lastError?.message ?? 'unknown error';
    return [cleanText(`data source ${name}${at} has failed since ${failingSince}: ${error}`)];
  });
}

/**
 * Returns the rows of the service, and a row for each document without a valid version, which is no scaler of the
 * service.
 */
export function tableRows({ rows, problems }: StatusList, selection: Selection): readonly ListedScaler[] {
  const keys = new Set(rows.map((row) => `${row.namespace}/${row.name}`));
  const invalid = invalidScalers(rejectionsOf(problems), keys)
    .filter((one) => isSelected(selection, one))
    .map((one): ListedScaler => {
      const key = `${one.namespace}/${one.name}`;
      const since = problems.find(({ scaler }) => scaler === key)?.since ?? null;
      return { ...one, state: { ...one.state, until: null, since } };
    });
  return sorted([...rows, ...invalid]);
}

const MOST_REJECTED = 5;

/**
 * Returns lines about rejected documents: the table has no row for them, or only the row of their last valid version. A
 * document without a readable name is included, because it may be a selected document.
 */
function rejectedDocuments(problems: ListedScalers['problems'], selection: Selection): readonly string[] {
  const mayBeSelected = (scaler: string | null): boolean => {
    if (scaler === null) return true;
    const [namespace = '', name = ''] = scaler.split('/');
    return isSelected(selection, { namespace, name });
  };
  const errors = problems.filter(({ severity, scaler }) => severity === 'error' && mayBeSelected(scaler));
  const lines = errors.slice(0, MOST_REJECTED).map((problem) => `document rejected: ${placedLine(problem)}`);
  const more = errors.length - lines.length;
  return more > 0
    ? [...lines, `and ${more} more problems of documents; see promscaler status -o json`]
    : lines;
}
