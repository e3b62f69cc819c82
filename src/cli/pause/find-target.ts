import type { ScalerView } from '../../api/answers.js';
import { watchedPlural } from '../../kubernetes/targets.js';
import type { TargetRef } from '../../scaler/spec.js';
import type { CommandIo } from '../output/io.js';
import { CommandError } from '../output/io.js';
import { readTarget } from '../reach/target-kind.js';
import { createServiceClient } from '../reach/service-client.js';
import type { ScalerName } from '../reach/service-pages.js';
import type { ResumeOptions } from './pause-options.js';

export interface PauseTarget {
  readonly namespace: string;
  readonly ref: TargetRef;
  readonly plural: string;
  /** State of the scaler in the service; null with `--target`. */
  readonly reported: { readonly isDryRun: boolean; readonly isPausedByDocument: boolean } | null;
}

/** Reads the target from `--target`, otherwise from the service. Throws `CommandError`. */
export async function findTarget(
  name: ScalerName,
  options: ResumeOptions,
  io: CommandIo,
): Promise<PauseTarget> {
  const row = options.target === undefined ? await findRow(name, options, io) : null;
  const ref = row === null ? readTarget(options.target ?? '').ref : row.target;
  const plural = ref === null ? null : watchedPlural(ref);
  if (ref === null || plural === null)
    throw new CommandError(
      `${ref?.kind ?? options.target ?? ''} cannot be paused by annotations: they are only read from Deployments, StatefulSets and ReplicaSets. Set spec.paused: true in the document of ${name.namespace}/${name.name}`,
    );
  return { namespace: name.namespace, ref, plural, reported: row === null ? null : reportedState(row) };
}

async function findRow(name: ScalerName, options: ResumeOptions, io: CommandIo): Promise<ScalerView> {
  const client = await createServiceClient(options, io);
  try {
    const { rows } = await client.listScalers(name.namespace);
    const row = rows.find((one) => one.name === name.name);
    if (row !== undefined) return row;
    const { message } = await client.explainMissing(name);
    throw new CommandError(`${message}\n--target KIND/NAME selects the workload without the service`);
  } finally {
    client.close();
  }
}

function reportedState({ pause, dryRun }: ScalerView): PauseTarget['reported'] {
  return { isDryRun: dryRun, isPausedByDocument: pause?.by === 'document' || pause?.by === 'both' };
}
