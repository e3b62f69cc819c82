import type { Command } from 'commander';
import type { CommandIo, ExitCode } from '../process/io.js';
import { contextNamespace } from '../reach/context-namespace.js';
import { createServiceClient } from '../reach/service-client.js';
import { endedWithin } from '../../units/clock.js';
import { complete } from './complete.js';
import type { Completed } from './complete.js';
import { describeCommands } from './describe-commands.js';
import type { Suggestion } from './describe-commands.js';

/** Nobody waits longer for a suggestion. */
const SERVICE_TIMEOUT_MS = 2000;

/** The directives of cobra, which kubectl reads: file names may be completed, or not. */
const WITH_FILES = ':0';
const WITHOUT_FILES = ':4';

/**
 * Completes a command line for the scripts of the shells and for kubectl, in the format of `__complete` of cobra: a
 * suggestion per line, with a tab before its description, and a directive. Prints no error.
 */
export async function runComplete(
  words: readonly string[],
  program: Command,
  io: CommandIo,
): Promise<ExitCode> {
  const completed = complete(describeCommands(program), words);
  const { place, begun, prefix } = completed;
  const suggestions = [...completed.suggestions, ...(await fromService(completed, io))];
  const lines = suggestions
    .filter(({ value }) => value.startsWith(begun))
    .map(({ value, description }) => `${prefix}${value}${description === '' ? '' : `\t${description}`}`);
  io.stdout.write([...lines, place.source === 'files' ? WITH_FILES : WITHOUT_FILES, ''].join('\n'));
  return 0;
}

async function fromService(completed: Completed, io: CommandIo): Promise<readonly Suggestion[]> {
  const { source } = completed.place;
  if (source !== 'scalers' && source !== 'namespaces') return [];
  let found: readonly Suggestion[] = [];
  const stop = new AbortController();
  const reading = readService(completed, { ...io, signal: AbortSignal.any([io.signal, stop.signal]) });
  const work = reading.then(
    (suggestions) => void (found = suggestions),
    () => undefined,
  );
  await endedWithin(io.clock, SERVICE_TIMEOUT_MS, work);
  stop.abort();
  return found;
}

async function readService(
  { command, place, options, begun }: Completed,
  io: CommandIo,
): Promise<readonly Suggestion[]> {
  const {
    '--url': url,
    '--service-namespace': serviceNamespace,
    '--kubeconfig': kubeconfig,
    '--context': context,
  } = options;
  const client = await createServiceClient(
    {
      // The --url of `doctor` is that of the API server.
      ...(url === undefined || command === 'doctor' ? {} : { url }),
      ...(serviceNamespace === undefined ? {} : { serviceNamespace }),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    },
    io,
  );
  try {
    const { rows } = await client.listScalers(null);
    const namespaces = [...new Set(rows.map(({ namespace }) => namespace))];
    if (place.source === 'namespaces') return sorted(namespaces);
    const own =
      options['--namespace'] ??
      (await contextNamespace(
        {
          ...(kubeconfig === undefined ? {} : { kubeconfig }),
          ...(context === undefined ? {} : { context }),
        },
        io,
      ));
    return sorted(
      rows.map(({ namespace, name }) =>
        namespace === own && !begun.includes('/') ? name : `${namespace}/${name}`,
      ),
    );
  } finally {
    client.close();
  }
}

function sorted(values: readonly string[]): readonly Suggestion[] {
  return [...values].sort().map((value) => ({ value, description: '' }));
}
