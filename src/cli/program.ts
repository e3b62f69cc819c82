import { Command, CommanderError } from 'commander';
import { addOfflineCommands, addOwnCommands } from './command-line/offline-commands.js';
import type { Result } from './command-line/result.js';
import { addAskingCommands, addServiceCommands } from './command-line/service-commands.js';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import { addPauseCommands } from './pause/commands.js';
import { VERSION } from './version.js';

/** Runs one command line (without `node` and the script) and gives its exit code. Never throws for a user's mistake. */
export async function cli(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  const result: Result = { exitCode: 0 };
  try {
    await buildProgram(io, result).parseAsync(argv.map(withoutEquals), { from: 'user' });
    return result.exitCode;
  } catch (error) {
    return explainFailure(error, io);
  }
}

/** `-o=yaml` and `-n=shop`, as kubectl takes them: commander would read the value `=yaml`. */
function withoutEquals(argument: string): string {
  return argument.replace(/^-([on])=/, '-$1');
}

function explainFailure(error: unknown, io: CommandIo): ExitCode {
  // Commander has already written its sentence; help and version end "in error" with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandError) {
    io.stderr.write(`promscaler: ${error.message}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.stderr.write(`promscaler: this is a fault of promscaler itself:\n${text}\n`);
  return 1;
}

function buildProgram(given: CommandIo, result: Result): Command {
  const env = { ...given.env };
  const io = { ...given, env };
  const program = new Command('promscaler')
    .description('Scale Kubernetes workloads on metrics from Prometheus')
    .version(VERSION)
    .option('--no-color', 'Print without colors, as the environment variable NO_COLOR does')
    .showHelpAfterError('(--help says more)')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (chunk) => io.stdout.write(chunk),
      writeErr: (chunk) => io.stderr.write(chunk),
      outputError: (text, write) => write(text.replace(/^error: /, 'promscaler: ')),
    })
    .hook('preAction', (command) => {
      if (command.opts()['color'] === false) env['NO_COLOR'] = '1';
    });
  addServiceCommands(program, io, result);
  addOfflineCommands(program, io, result);
  addAskingCommands(program, io, result);
  addPauseCommands(program, io, result);
  addOwnCommands(program, io, result);
  return program;
}
