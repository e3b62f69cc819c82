import { adapterQueries, unusualResources } from '../../importers/adapter/adapter-queries.js';
import { readAdapterText } from '../../importers/adapter/read-adapter.js';
import { remarkLine } from '../../importers/import-object.js';
import type { MetricQueries } from '../../importers/manifest/named-metric.js';
import { oneLine } from '../../importers/draft/comments.js';
import { readInput } from './read-files.js';
import { CommandError, type CommandIo } from '../output/io.js';

/** Reads the config of prometheus-adapter, and prints which parts of it cannot be used. */
export async function readAdapterFile(file: string, io: CommandIo): Promise<MetricQueries> {
  const input = await readInput(file, io);
  if ('code' in input) throw new CommandError(`--adapter-config: reading ${file}: ${input.message}`);
  const { config, problems } = readAdapterText(input.text, file);
  const [problem] = problems;
  if (config === null)
    throw new CommandError(
      `--adapter-config: ${file}: ${problem?.message ?? 'has no rules of prometheus-adapter'}`,
    );
  for (const remark of config.remarks) io.stderr.write(`${remarkLine(file, remark)}\n`);
  for (const line of unusualResources(config)) io.stderr.write(`${file}: ${oneLine(line)}\n`);
  return adapterQueries(config);
}
