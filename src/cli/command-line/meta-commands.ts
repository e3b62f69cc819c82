import { Argument, type Command } from 'commander';
import type { CommandIo } from '../output/io.js';
import { VERSION } from '../output/version.js';
import { outputOption, type Result } from './options.js';

export function addMetaCommands(program: Command, io: CommandIo, result: Result): void {
  program
    .command('version')
    .description('Print the version of this command')
    .addOption(outputOption(['text', 'json', 'yaml']))
    .action(async ({ output }: { output: string }) => {
      const { readOutputFormat, writeStructured } = await import('../output/output-format.js');
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
      const { runCompletion } = await import('../completion/run-completion.js');
      result.exitCode = runCompletion(name, io);
    });
}
