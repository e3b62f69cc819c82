import type { Command } from 'commander';
import { NAMESPACE_OF_SCALER, optionOf, outputOption, reaching } from './options.js';
import type { Result } from './result.js';
import type { CommandIo } from '../process/io.js';
import type { PauseOptions, ResumeOptions } from '../pause/pause-options.js';

export function addPauseCommands(program: Command, io: CommandIo, result: Result): void {
  const pause = program
    .command('pause')
    .description('Pause the scaling of a workload by annotations, with your permissions')
    .argument('<scaler>', 'NAMESPACE/NAME, or NAME')
    .option('--for <duration>', 'Duration, such as 30m, 2h, 1d or 1h30m (default: until resume)')
    .option('--until <time>', 'End of the pause: 2026-01-01T18:00:00Z')
    .addOption(
      optionOf('--direction <direction>', 'Only pause this direction (default: both)', [
        'scale-up',
        'scale-down',
      ]),
    )
    .option('--replicas <count>', 'Set this replica count and keep it, even outside the bounds')
    .option('--reason <text>', 'Reason, at most 200 characters');
  targeting(pause).action(async (scaler: string, options: Omit<PauseOptions, 'scaler'>) => {
    const { runPause } = await import('../pause/run-pause.js');
    result.exitCode = await runPause({ scaler, ...options }, io);
  });
  const resume = program
    .command('resume')
    .description('Resume the scaling of a paused workload: remove the annotations of the pause')
    .argument('<scaler>', 'NAMESPACE/NAME, or NAME');
  targeting(resume).action(async (scaler: string, options: Omit<ResumeOptions, 'scaler'>) => {
    const { runResume } = await import('../pause/run-resume.js');
    result.exitCode = await runResume({ scaler, ...options }, io);
  });
}

function targeting(command: Command): Command {
  return reaching(command.option(...NAMESPACE_OF_SCALER))
    .option('--target <kind/name>', 'Workload of the scaler (default: read from the service)')
    .addOption(outputOption(['text', 'json', 'yaml', 'name']));
}
