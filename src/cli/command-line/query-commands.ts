import type { Command } from 'commander';
import type { DashboardOptions } from '../commands/run-dashboard.js';
import type { ExplainOptions } from '../explain/run-explain.js';
import type { CommandIo } from '../output/io.js';
import type { StatusOptions } from '../status/run-status.js';
import { NAMESPACE_OF_SCALER, outputOption, reaching, type Result } from './options.js';

export function addQueryCommands(program: Command, io: CommandIo, result: Result): void {
  const explain = program
    .command('explain')
    .description('Explain the last decision for a scaler: values, pods, arithmetic, limits and holds')
    .argument('[scaler]', 'NAMESPACE/NAME, or NAME')
    .option(...NAMESPACE_OF_SCALER)
    .option('--snapshot <file>', 'Explain the decision for a snapshot instead; - for standard input')
    .option('--file <file>', 'Read a decision record instead of a running service; - for standard input')
    .option(
      '--at <time>',
      'Explain the decision in effect at this time: 2026-01-01T10:42:30Z, 10:42:30 (local), or 10m (ago)',
    )
    .addOption(outputOption(['text', 'json', 'yaml']));
  reaching(explain).action(async (scaler: string | undefined, options: Omit<ExplainOptions, 'scaler'>) => {
    const { runExplain } = await import('../explain/run-explain.js');
    result.exitCode = await runExplain({ scaler, ...options }, io);
  });
  const status = program
    .command('status')
    .description('List the scalers of a running service')
    .argument('[scaler]', 'Only list this scaler: NAMESPACE/NAME, or NAME')
    .option('-n, --namespace <namespace>', 'Only list scalers in this namespace')
    .option('-A, --all-namespaces', 'List scalers in all namespaces (the default)')
    .option('-w, --watch', 'After listing, watch for changes')
    .option(
      '--recommendations',
      'List what the back-tests of the service recommend, with the command to apply it',
    )
    .addOption(outputOption(['text', 'wide', 'json', 'yaml', 'name']));
  reaching(status).action(async (scaler: string | undefined, options: Omit<StatusOptions, 'scaler'>) => {
    const { runStatus } = await import('../status/run-status.js');
    result.exitCode = await runStatus({ scaler, ...options }, io);
  });
  const dashboard = program
    .command('dashboard')
    .description('Open the dashboard of a running service in the browser')
    .option('--port <port>', 'Local port to forward from (default: any free port)')
    .option('--no-open', 'Only print the address');
  reaching(dashboard).action(async (options: DashboardOptions) => {
    const { runDashboard } = await import('../commands/run-dashboard.js');
    result.exitCode = await runDashboard(options, io);
  });
}
