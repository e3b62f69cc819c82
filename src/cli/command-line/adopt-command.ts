import type { Command } from 'commander';
import type { AdoptOptions } from '../adopt/adopt-options.js';
import type { CommandIo } from '../process/io.js';
import { outputOption, reaching } from './options.js';
import type { Result } from './result.js';

export function addAdoptCommand(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('adopt')
    .description('Replace an HPA or ScaledObject by a scaler, in steps')
    .argument(
      '<autoscaler>',
      'hpa/NAME or scaledobject/NAME. Without --report, --switch or --undo: create its scaler, in dry run. The autoscaler goes on scaling',
    )
    .option(
      '-n, --namespace <namespace>',
      'Namespace of the autoscaler (default: that of the kubeconfig context)',
    )
    .option(
      '-f, --filename <file>',
      'First step: scaler document to use, instead of converting the autoscaler',
    )
    .option(
      '--adapter-config <file>',
      'First step: config of prometheus-adapter, for the queries of Pods, Object and External metrics',
    )
    .option('--report', 'Compare: print how often scaler and autoscaler had the same desired replicas')
    .option('--switch', 'Switch: save and delete the autoscaler, then let the scaler scale')
    .option('--undo', 'Way back: put the scaler into dry run, and create the autoscaler again')
    .option(
      '--force',
      'With --switch: also if the replica counts differ or were not compared, or a tool manages the scaler',
    )
    .option(
      '--save <file>',
      'With --switch: file for the manifest of the autoscaler (default: hpa-NAMESPACE-NAME.yaml)',
    )
    .option('--preview', 'Print what the step would do, and change nothing')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reaching(command).action(async (source: string, options: Omit<AdoptOptions, 'source'>) => {
    const { runAdopt } = await import('../adopt/run-adopt.js');
    result.exitCode = await runAdopt({ source, ...options }, io);
  });
}
