import { type CommandIo, type ExitCode, usageError } from '../output/io.js';
import type { AdoptContext } from './adoption.js';
import { type AdoptOptions, type AdoptStep, readSource, readStep } from './adopt-options.js';
import { openObjects } from '../reach/cluster-objects.js';
import { reportAdoption } from './report-adoption.js';
import { startAdoption } from './start-adoption.js';
import { switchAdoption, undoAdoption } from './switch-adoption.js';

const STEPS: Readonly<Record<AdoptStep, (context: AdoptContext) => Promise<ExitCode>>> = {
  start: startAdoption,
  report: reportAdoption,
  switch: switchAdoption,
  undo: undoAdoption,
};

/**
 * Runs one step of `adopt` with the permissions of the user. Only the cluster stores the state of an adoption: in the
 * annotations and `spec.dryRun` of the Scaler object, and in the autoscaler as long as it exists.
 */
export async function runAdopt(options: AdoptOptions, io: CommandIo): Promise<ExitCode> {
  const step = readStep(options);
  if (step !== 'report' && options.output !== 'text') throw usageError('-o needs --report');
  const source = await readSource(options, io);
  const objects = await openObjects(source.namespace, options, io);
  try {
    return await STEPS[step]({ options, io, source, objects });
  } finally {
    objects.close();
  }
}
