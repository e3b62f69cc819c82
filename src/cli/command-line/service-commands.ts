import type { Command } from 'commander';
import type { DoctorOptions } from '../commands/run-doctor.js';
import type * as Demo from '../demo/run-demo.js';
import type { DemoOptions } from '../demo/options.js';
import { CommandError, type CommandIo } from '../output/io.js';
import type { ClusterOptions } from '../reach/cluster-options.js';
import {
  KUBECONFIG_OF_SERVICE,
  NAMESPACE_OF_SCALER,
  outputOption,
  reachingCluster,
  type Result,
  reaching,
} from './options.js';
import type { DashboardOptions } from '../commands/run-dashboard.js';
import type { ExplainOptions } from '../explain/run-explain.js';
import type { StatusOptions } from '../status/run-status.js';

export function addServiceCommands(program: Command, io: CommandIo, result: Result): void {
  addRun(program, io, result);
  addDemo(program, io, result);
  addDoctor(program, io, result);
}

interface RunFlags extends ClusterOptions {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
}

function addRun(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('run')
    .description('Run the service')
    .option('--config <file>', 'Service config (default: no file; every field has its default)')
    .option('--dry-run', 'Decide and report for all scalers, but patch nothing')
    .option('--strict', 'Exit if any scaler document is invalid at startup');
  reachingCluster(command, KUBECONFIG_OF_SERVICE).action(async (options: RunFlags) => {
    const { runService } = await import('../commands/run-service.js');
    const { config = null, dryRun = false, strict = false, ...cluster } = options;
    result.exitCode = await runService({ configFile: config, dryRun, strict, cluster }, io);
  });
}

function addDemo(program: Command, io: CommandIo, result: Result): void {
  program
    .command('demo')
    .description('Run the service with a simulated cluster and a real Prometheus')
    .option(
      '--duration <seconds>',
      'Duration of the demo in seconds (default: until Ctrl-C on a terminal, otherwise 120)',
    )
    .option(
      '--speed <factor>',
      'Factor from 1 to 60. The demo divides the length of the load curve and of the windows by this factor',
      '5',
    )
    .option('--port <port>', 'Port of the service (default: 8080, or any free port if 8080 is in use)')
    .option(
      '--trace <file>',
      'File with the load in requests per second, in the format of backtest --trace, instead of the built-in load curve',
    )
    .option(
      '--keep <directory>',
      'Directory for the recorded history and the documents (default: ~/.cache/promscaler/demo)',
    )
    .action(async (options: DemoOptions) => {
      const { runDemo } = await loadDemo();
      result.exitCode = await runDemo(options, io);
    });
}

/** Imports the demo only when it is needed, because the container image does not contain the demo. */
async function loadDemo(): Promise<typeof Demo> {
  try {
    return await import('../demo/run-demo.js');
  } catch (error) {
    // Any other missing file means that the installation is broken, which must not look like a missing demo.
    if (!(error instanceof Error) || !/^Cannot find module '[^']*demo\.js'/.test(error.message)) throw error;
    throw new CommandError(
      'the container image does not contain the demo. Run the demo in a checkout, with Node.js: npm ci && npm run demo',
    );
  }
}

function addDoctor(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('doctor')
    .description('Diagnose configuration, Prometheus and cluster problems, and print the fix for each')
    .argument('[scaler]', 'Check only this scaler: NAMESPACE/NAME, or NAME')
    .option(...NAMESPACE_OF_SCALER)
    .option('--config <file>', 'Service config (default: no file; every field has its default)')
    .option('--prometheus <url>', 'Replace the URLs of the data source default')
    .option('--dry-run', 'Allow an HPA on the same target, for a service that runs with --dry-run')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reachingCluster(command).action(
    async (scaler: string | undefined, options: Omit<DoctorOptions, 'scaler'>) => {
      const { runDoctor } = await import('../commands/run-doctor.js');
      result.exitCode = await runDoctor({ scaler, ...options }, io);
    },
  );
}

export function addQueryCommands(program: Command, io: CommandIo, result: Result): void {
  const explain = program
    .command('explain')
    .description('Explain the last decision for a scaler: values, pods, arithmetic, limits and holds')
    .argument('[scaler]', 'NAMESPACE/NAME, or NAME')
    .option(...NAMESPACE_OF_SCALER)
    .option('--snapshot <file>', 'Explain the decision for a snapshot from a file; - for standard input')
    .option('--file <file>', 'Read a decision record instead of a running service; - for standard input')
    .option(
      '--at <time>',
      'Explain the decision in effect at a past time, such as 2026-01-01T10:42:30Z, 10:42:30 (local time) or 10m (ago)',
    )
    .addOption(outputOption(['text', 'json', 'yaml']));
  reaching(explain).action(async (scaler: string | undefined, options: Omit<ExplainOptions, 'scaler'>) => {
    const { runExplain } = await import('../explain/run-explain.js');
    result.exitCode = await runExplain({ scaler, ...options }, io);
  });
  const status = program
    .command('status')
    .description('List the scalers of a running service')
    .argument('[scaler...]', 'List only these scalers: NAMESPACE/NAME, or NAME')
    .option('-n, --namespace <namespace>', 'List only scalers in this namespace')
    .option('-A, --all-namespaces', 'List scalers in all namespaces (the default)')
    .option('-w, --watch', 'After listing, update the list with each change')
    .option(
      '--recommendations',
      'List the changes that the back-tests of the service recommend, with the commands to apply them',
    )
    .addOption(outputOption(['text', 'wide', 'json', 'yaml', 'name']));
  reaching(status).action(async (scalers: readonly string[], options: Omit<StatusOptions, 'scalers'>) => {
    const { runStatus } = await import('../status/run-status.js');
    result.exitCode = await runStatus({ scalers, ...options }, io);
  });
  const dashboard = program
    .command('dashboard')
    .description('Open the dashboard of a running service in the browser')
    .option('--port <port>', 'Local port to forward from (default: any free port)')
    .option('--no-open', 'Print the address without opening a browser');
  reaching(dashboard).action(async (options: DashboardOptions) => {
    const { runDashboard } = await import('../commands/run-dashboard.js');
    result.exitCode = await runDashboard(options, io);
  });
}
