import type { Command } from 'commander';
import { NAMESPACE_OF_SCALER, optionOf, outputOption, reaching } from '../command-line/options.js';
import type { Result } from '../command-line/result.js';
import type { CommandIo } from '../io.js';
import type { PauseOptions, ResumeOptions } from './pause-options.js';

/** Adds `pause` and `resume`. */
export function addPauseCommands(program: Command, io: CommandIo, result: Result): void {
  const pause = program
    .command('pause')
    .description('stops the scaling of a workload by annotations, with your own rights; decisions go on')
    .argument('<scaler>', 'NAMESPACE/NAME, or NAME')
    .option('--for <duration>', 'how long: 90s, 15m, 2h, 1d, 1h30m (default: until it is resumed)')
    .option('--until <time>', 'when it ends by itself: 2026-01-01T18:00:00Z')
    .addOption(
      optionOf('--direction <direction>', 'that one alone (default: both)', ['scale-up', 'scale-down']),
    )
    .option('--replicas <count>', 'sets this count and keeps it, also outside of the bounds')
    .option('--reason <text>', 'for whoever asks why, 200 characters at most');
  pointing(pause).action(async (scaler: string, options: Omit<PauseOptions, 'scaler'>) => {
    const { runPause } = await import('./run-pause.js');
    result.exitCode = await runPause({ scaler, ...options }, io);
  });
  const resume = program
    .command('resume')
    .description('ends a pause: takes its annotations away, with your own rights')
    .argument('<scaler>', 'NAMESPACE/NAME, or NAME');
  pointing(resume).action(async (scaler: string, options: Omit<ResumeOptions, 'scaler'>) => {
    const { runResume } = await import('./run-resume.js');
    result.exitCode = await runResume({ scaler, ...options }, io);
  });
}

function pointing(command: Command): Command {
  return reaching(command.option(...NAMESPACE_OF_SCALER))
    .option('--target <kind/name>', 'the workload, so that no service has to be asked for it')
    .addOption(outputOption(['text', 'json', 'yaml', 'name']));
}
