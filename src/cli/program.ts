import { Argument, Command, CommanderError } from 'commander';
import { addAdoptCommand, addPauseCommands } from './command-line/change-commands.js';
import { addExamples } from './command-line/examples.js';
import { addDocumentCommands } from './command-line/document-commands.js';
import { outputOption, type Result } from './command-line/options.js';
import { addQueryCommands, addServiceCommands } from './command-line/service-commands.js';
import { type CommandIo, type ExitCode, CommandError, cleanStream } from './output/io.js';
import { cleanText } from '../units/clean-text.js';
import { localTimes, nameProgram } from './output/lines.js';
import { VERSION } from './output/version.js';

/** Runs a command line (without `node` and the script) and returns the exit code. Incorrect usage does not throw. */
export async function cli(argv: readonly string[], given: CommandIo): Promise<ExitCode> {
  const io = { ...given, stdout: cleanStream(given.stdout), stderr: cleanStream(given.stderr) };
  const result: Result = { exitCode: 0 };
  try {
    const program = buildProgram(io, result);
    const [first, ...words] = argv;
    // `__complete` is not a command of commander, which would parse the following words as options.
    if (first === '__complete') {
      const { runComplete } = await import('./completion/run-complete.js');
      return await runComplete(words, program, io);
    }
    await program.parseAsync(argv.map(withoutEquals), { from: 'user' });
    return result.exitCode;
  } catch (error) {
    return reportFailure(error, io);
  }
}

/** Accepts `-o=yaml` and `-n=shop`, as kubectl does. commander would read the value `=yaml`. */
function withoutEquals(argument: string): string {
  return argument.replace(/^-([on])=/, '-$1');
}

function reportFailure(error: unknown, io: CommandIo): ExitCode {
  // commander has already printed the message. For help and version, it also throws an error, with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandError) {
    // The message may quote a document, a record or the answer of a server, with control characters.
    io.stderr.write(`promscaler: ${localTimes(nameProgram(cleanText(error.message), io))}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  io.stderr.write(`promscaler: internal error, please report it:\n${text}\n`);
  return 1;
}

const HELP_CHARACTERS = 80;

/**
 * Replaces the name of the program in a help text. `nameProgram` replaces it only before a command, so the usage line
 * without a command is replaced here. The usage line and the examples are wrapped here, because commander does not wrap
 * them, and their width depends on the path of the program.
 */
function nameInHelp(text: string, io: CommandIo): string {
  return nameProgram(text, io)
    .replace(/^Usage: promscaler (?=\[)/, () => `Usage: ${io.command} `)
    .split('\n')
    .map(wrapCommand)
    .join('\n');
}

/** Breaks a line of the help that is too long before options, so that a shell accepts a pasted example. */
function wrapCommand(line: string): string {
  if (line.length <= HELP_CHARACTERS) return line;
  const isUsage = line.startsWith('Usage: ');
  const [end, parts] = isUsage ? ['', line.split(/ (?=[[<])/)] : [' \\', line.split(/ (?=--?[a-z]|[|>] )/)];
  return parts.reduce((wrapped, part) => {
    const length = wrapped.length - wrapped.lastIndexOf('\n') - 1;
    const fits = length + 1 + part.length + end.length <= HELP_CHARACTERS;
    return fits ? `${wrapped} ${part}` : `${wrapped}${end}\n    ${part}`;
  });
}

function buildProgram(given: CommandIo, result: Result): Command {
  const env = { ...given.env };
  const io = { ...given, env };
  const program = new Command('promscaler')
    .description('Scale Kubernetes workloads by the results of PromQL queries')
    .version(VERSION, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print help')
    .helpCommand('help [command]', 'Print help for a command')
    .option('--no-color', 'Print without colors, like the environment variable NO_COLOR')
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (chunk) => io.stdout.write(nameInHelp(chunk, io)),
      writeErr: (chunk) => io.stderr.write(nameInHelp(chunk, io)),
      // The width is fixed, because longer lines on a wide terminal would be hard to read.
      getOutHelpWidth: () => HELP_CHARACTERS,
      getErrHelpWidth: () => HELP_CHARACTERS,
      outputError: (text, write) => write(text.replace(/^error: /, 'promscaler: ')),
    })
    .hook('preAction', (command) => {
      if (command.opts()['color'] === false) env['NO_COLOR'] = '1';
    });
  addServiceCommands(program, io, result);
  addDocumentCommands(program, io, result);
  addQueryCommands(program, io, result);
  addPauseCommands(program, io, result);
  addAdoptCommand(program, io, result);
  addMetaCommands(program, io, result);
  addExamples(program);
  return program;
}

function addMetaCommands(program: Command, io: CommandIo, result: Result): void {
  program
    .command('version')
    .description('Print the version of this command')
    .addOption(outputOption(['text', 'json', 'yaml']))
    .action(async ({ output }: { output: string }) => {
      const { readOutputFormat, writeStructured } = await import('./output/output-format.js');
      const format = readOutputFormat(output, ['text', 'json', 'yaml']);
      io.stdout.write(
        format === 'text' ? `promscaler ${VERSION}\n` : writeStructured(format, { version: VERSION }),
      );
    });
  const shell = new Argument('<shell>', 'Shell of the script');
  shell.argChoices = ['bash', 'zsh', 'fish'];
  program
    .command('completion')
    .description('Print a shell completion script')
    .addArgument(shell)
    .addHelpText(
      'after',
      '\nkubectl completes `kubectl promscaler` with the program\nkubectl_complete-promscaler, which the package installs.',
    )
    .action(async (name: string) => {
      const { runCompletion } = await import('./completion/run-completion.js');
      result.exitCode = runCompletion(name, io);
    });
}
