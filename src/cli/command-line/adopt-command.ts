import type { Command } from 'commander';
import type { AdoptOptions } from '../adopt/adopt-options.js';
import type { CommandIo } from '../process/io.js';
import { outputOption, reaching } from './options.js';
import type { Result } from './result.js';

export function addAdoptCommand(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('adopt')
    .description('Replace an HPA or ScaledObject by a scaler: dry run, comparison, switch, way back')
    .argument('<autoscaler>', 'hpa/NAME or scaledobject/NAME')
    .option(
      '-n, --namespace <namespace>',
      'Namespace of the autoscaler (default: that of the kubeconfig context)',
    )
    .option('-f, --filename <file>', 'Completed scaler document to use instead of the converted one')
    .option('--adapter-config <file>', 'Config of prometheus-adapter, with the queries of custom metrics')
    .option('--report', 'Print how often the dry run had the same count as the autoscaler')
    .option('--switch', 'Save and delete the autoscaler, then end the dry run')
    .option('--undo', 'Restart the dry run, then create the autoscaler again')
    .option('--force', 'With --switch: also if the counts differ or were not compared')
    .option('--dry-run', 'Print what would be done, and change nothing')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reaching(command).action(async (source: string, options: Omit<AdoptOptions, 'source'>) => {
    const { runAdopt } = await import('../adopt/run-adopt.js');
    result.exitCode = await runAdopt({ source, ...options }, io);
  });
}
