import type { Command } from 'commander';
import { NAMESPACE_OF_SCALER, optionOf, outputOption, reaching } from '../command-line/options.js';
import type { Result } from '../command-line/result.js';
import type { CommandIo } from '../io.js';
import type { PauseOptions, ResumeOptions } from './pause-options.js';

/** Adds `pause` and `resume`. */
export function addPauseCommands(program: Command, io: CommandIo, result: Result): void {
  const pause = program
    .command('pause')
    .description('Pause the scaling of a workload with annotations, using your permissions')
    .argument('<scaler>', 'NAMESPACE/NAME, or NAME')
    .option('--for <duration>', 'duration: 90s, 15m, 2h, 1d, 1h30m (default: until resume)')
    .option('--until <time>', 'end of the pause: 2026-01-01T18:00:00Z')
    .addOption(
      optionOf('--direction <direction>', 'direction to pause (default: both)', ['scale-up', 'scale-down']),
    )
    .option('--replicas <count>', 'set and keep this replica count, also outside of the bounds')
    .option('--reason <text>', 'reason for the condition and the Event, at most 200 characters');
  pointing(pause).action(async (scaler: string, options: Omit<PauseOptions, 'scaler'>) => {
    const { runPause } = await import('./run-pause.js');
    result.exitCode = await runPause({ scaler, ...options }, io);
  });
  const resume = program
    .command('resume')
    .description('End a pause: remove its annotations, using your permissions')
    .argument('<scaler>', 'NAMESPACE/NAME, or NAME');
  pointing(resume).action(async (scaler: string, options: Omit<ResumeOptions, 'scaler'>) => {
    const { runResume } = await import('./run-resume.js');
    result.exitCode = await runResume({ scaler, ...options }, io);
  });
}

function pointing(command: Command): Command {
  return reaching(command.option(...NAMESPACE_OF_SCALER))
    .option('--target <kind/name>', 'workload; without it, the target is read from the service')
    .addOption(outputOption(['text', 'json', 'yaml', 'name']));
}
