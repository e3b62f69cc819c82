import type { Command } from 'commander';
import type { AdoptOptions } from '../adopt/adopt-options.js';
import type { PauseOptions, ResumeOptions } from '../commands/pause-options.js';
import type { CommandIo } from '../output/io.js';
import { NAMESPACE_OF_SCALER, optionOf, outputOption, reaching, type Result } from './options.js';

export function addPauseCommands(program: Command, io: CommandIo, result: Result): void {
  const pause = program
    .command('pause')
    .description('Pause the scaling of a workload by annotations that are set with your permissions')
    .argument('<scaler>', 'NAMESPACE/NAME, or NAME')
    .option('--for <duration>', 'Duration of the pause, such as 30m, 2h, 1d or 1h30m (default: until resume)')
    .option('--until <time>', 'End of the pause, such as 2026-01-01T18:00:00Z or 18:00 (local time)')
    .addOption(
      optionOf('--direction <direction>', 'Pause only this direction (default: both)', [
        'scale-up',
        'scale-down',
      ]),
    )
    .option('--replicas <count>', 'Set this replica count and keep it, even outside the bounds')
    .option('--reason <text>', 'Reason for the pause, at most 200 characters');
  targeting(pause).action(async (scaler: string, options: Omit<PauseOptions, 'scaler'>) => {
    const { runPause } = await import('../commands/run-pause.js');
    result.exitCode = await runPause({ scaler, ...options }, io);
  });
  const resume = program
    .command('resume')
    .description('Resume the scaling of a paused workload: remove the annotations of the pause')
    .argument('<scaler>', 'NAMESPACE/NAME, or NAME');
  targeting(resume).action(async (scaler: string, options: Omit<ResumeOptions, 'scaler'>) => {
    const { runResume } = await import('../commands/run-pause.js');
    result.exitCode = await runResume({ scaler, ...options }, io);
  });
}

function targeting(command: Command): Command {
  return reaching(command.option(...NAMESPACE_OF_SCALER))
    .option('--target <kind/name>', 'Workload of the scaler (default: as reported by the service)')
    .addOption(outputOption(['text', 'json', 'yaml', 'name']));
}

export function addAdoptCommand(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('adopt')
    .description('Replace an HPA or ScaledObject with a scaler, in steps')
    .argument(
      '<autoscaler>',
      'Autoscaler: hpa/NAME or scaledobject/NAME. Without --report, --switch or --undo: create a scaler from the autoscaler, in dry run, while the autoscaler continues to scale',
    )
    .option(
      '-n, --namespace <namespace>',
      'Namespace of the autoscaler (default: namespace of the kubeconfig context)',
    )
    .option(
      '-f, --filename <file>',
      'In the first step: use this scaler document instead of converting the autoscaler',
    )
    .option(
      '--adapter-config <file>',
      'In the first step: take the queries of Pods, Object and External metrics from this config of prometheus-adapter',
    )
    .option('--report', 'Print how often scaler and autoscaler had the same desired replicas')
    .option('--switch', 'Save and delete the autoscaler, then end the dry run of the scaler')
    .option('--undo', 'Put the scaler into dry run, and create the autoscaler again')
    .option(
      '--force',
      'With --switch: skip the comparison with the autoscaler (replica counts, changes since the import, metrics in use, origin of the scaler), and switch even if a tool such as Argo CD manages the scaler',
    )
    .option(
      '--save <file>',
      'With --switch: save the manifest of the autoscaler in this file (default: hpa-NAMESPACE-NAME.yaml)',
    )
    .option('--preview', 'Print what the step would do, without changing anything')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reaching(command).action(async (source: string, options: Omit<AdoptOptions, 'source'>) => {
    const { runAdopt } = await import('../adopt/run-adopt.js');
    result.exitCode = await runAdopt({ source, ...options }, io);
  });
}
