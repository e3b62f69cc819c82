import { objectIn, textIn } from '../../kubernetes/api/json.js';
import { endedWithin } from '../../units/clock.js';
import { openObjects } from '../reach/cluster-objects.js';
import { type ResourceKind, SCALER, SOURCE_KINDS } from '../reach/source-kinds.js';
import type { CommandIo, ExitCode } from '../output/io.js';
import { contextNames, contextNamespace } from '../reach/cluster-options.js';
import type { ReachOptions } from '../reach/find-service.js';
import { complete, type Completed, describeCommands, type Source, type Suggestion } from './complete.js';
import type { Command } from 'commander';
import { withService } from '../reach/service-client.js';

/** Directives of cobra, which kubectl reads: whether file names may be added to the suggestions. */
const WITH_FILES = ':0';
const WITHOUT_FILES = ':4';

/**
 * Completes a command line for shell scripts and for kubectl. The output has the format of `__complete` of cobra: a
 * line for each suggestion, with a tab before its description, and then a directive. Prints no errors.
 */
export async function runComplete(
  words: readonly string[],
  program: Command,
  io: CommandIo,
): Promise<ExitCode> {
  const completed = complete(describeCommands(program), words);
  const { argument, begun, prefix } = completed;
  const suggestions = [...completed.suggestions, ...(await readSuggestions(completed, io))];
  const lines = suggestions
    .filter(({ value }) => value.startsWith(begun))
    .map(({ value, description }) => `${prefix}${value}${description === '' ? '' : `\t${description}`}`);
  io.stdout.write([...lines, argument.source === 'files' ? WITH_FILES : WITHOUT_FILES, ''].join('\n'));
  return 0;
}

/** Limits the time, because the user waits for the suggestions. */
const LONGEST_MS = 2000;

type Read = (completed: Completed, options: ReachOptions, io: CommandIo) => Promise<readonly string[]>;

/** For each source, its readers in the order of preference. The first reader that returns something is used. */
const READERS: Readonly<Record<Source, readonly Read[]>> = {
  files: [],
  nothing: [],
  scalers: [scalersOfService, scalerObjects],
  namespaces: [namespacesOfService],
  autoscalers: [autoscalers],
  contexts: [(_completed, options, io) => contextNames(options, io)],
};

/** Reads suggestions from the service, the cluster or the kubeconfig; none after two seconds, or after a failure. */
export async function readSuggestions(completed: Completed, io: CommandIo): Promise<readonly Suggestion[]> {
  const readers = READERS[completed.argument.source];
  const found: (readonly string[])[] = readers.map(() => []);
  const stop = new AbortController();
  const stoppable = { ...io, signal: AbortSignal.any([io.signal, stop.signal]) };
  const work = readers.map(async (read, index) => {
    try {
      found[index] = await read(completed, reachOptions(completed), stoppable);
    } catch {
      // Errors are ignored, because a shell that completes a line cannot show an error.
    }
  });
  await endedWithin(
    io.clock,
    LONGEST_MS,
    Promise.all(work).then(() => undefined),
  );
  stop.abort();
  const values = found.find((names) => names.length > 0) ?? [];
  return [...new Set(values)].sort().map((value) => ({ value, description: '' }));
}

/** Omits the --url of `doctor`, which is the address of the API server instead of the service. */
function reachOptions({ command, options }: Completed): ReachOptions {
  const {
    '--url': url,
    '--service-namespace': serviceNamespace,
    '--kubeconfig': kubeconfig,
    '--context': context,
  } = options;
  return {
    ...(url === undefined || command === 'doctor' ? {} : { url }),
    ...(serviceNamespace === undefined ? {} : { serviceNamespace }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  };
}

async function ownNamespace({ options }: Completed, reach: ReachOptions, io: CommandIo): Promise<string> {
  return options['--namespace'] ?? (await contextNamespace(reach, io));
}

async function scalersOfService(
  completed: Completed,
  options: ReachOptions,
  io: CommandIo,
): Promise<readonly string[]> {
  const own = await ownNamespace(completed, options, io);
  const rows = await readRows(options, io);
  return rows.map(({ namespace, name }) =>
    namespace === own && !completed.begun.includes('/') ? name : `${namespace}/${name}`,
  );
}

async function namespacesOfService(
  _completed: Completed,
  options: ReachOptions,
  io: CommandIo,
): Promise<readonly string[]> {
  const rows = await readRows(options, io);
  return rows.map(({ namespace }) => namespace);
}

async function readRows(
  options: ReachOptions,
  io: CommandIo,
): Promise<readonly { readonly namespace: string; readonly name: string }[]> {
  const { rows } = await withService(options, io, (client) => client.listScalers(null));
  return rows;
}

/** Returns the Scaler objects of the namespace; empty with --url: that service may belong to another cluster. */
async function scalerObjects(
  completed: Completed,
  options: ReachOptions,
  io: CommandIo,
): Promise<readonly string[]> {
  if (options.url !== undefined) return [];
  const namespace = completed.begun.split('/').length > 1 ? completed.begun.split('/')[0] : undefined;
  const own = namespace ?? (await ownNamespace(completed, options, io));
  const names = await namesOf(SCALER, own, { options, io });
  return names.map((name) => (namespace === undefined ? name : `${namespace}/${name}`));
}

async function autoscalers(
  completed: Completed,
  options: ReachOptions,
  io: CommandIo,
): Promise<readonly string[]> {
  const own = await ownNamespace(completed, options, io);
  const names = await Promise.all(
    SOURCE_KINDS.map(async (kind) => {
      const found = await namesOf(kind, own, { options, io });
      return found.map((name) => `${kind.types[0] ?? ''}/${name}`);
    }),
  );
  return names.flat();
}

/** Returns the names of objects; empty: listing them is forbidden, or the kind does not exist. */
async function namesOf(
  kind: ResourceKind,
  namespace: string,
  { options, io }: { readonly options: ReachOptions; readonly io: CommandIo },
): Promise<readonly string[]> {
  const objects = await openObjects(namespace, options, io);
  try {
    const list = await objects.list(kind);
    return list.flatMap((object) => textIn(objectIn(object, 'metadata'), 'name') ?? []);
  } catch {
    return [];
  } finally {
    objects.close();
  }
}
