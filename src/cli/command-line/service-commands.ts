import type { Command } from 'commander';
import type { CommandIo } from '../io.js';
import type { ClusterOptions } from '../reach/cluster-options.js';
import { NAMESPACE_OF_SCALER, outputOption, reaching, reachingCluster } from './options.js';
import type { Result } from './result.js';

/** Adds the service itself, its demo and its doctor. */
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
    .description('Run the service: read metrics, decide, scale')
    .option('--config <file>', 'service config (default: built-in defaults)')
    .option('--dry-run', 'decide and report for all scalers, but patch nothing')
    .option('--strict', 'exit if any scaler document is invalid at startup');
  reachingCluster(command).action(async (options: RunFlags) => {
    const { runService } = await import('../run.js');
    const { config = null, dryRun = false, strict = false, ...cluster } = options;
    result.exitCode = await runService({ configFile: config, dryRun, strict, cluster }, io);
  });
}

function addDemo(program: Command, io: CommandIo, result: Result): void {
  program
    .command('demo')
    .description('Run the service with an embedded cluster and a real Prometheus')
    .option(
      '--duration <seconds>',
      'duration in seconds (default: until Ctrl-C on a terminal, otherwise 120)',
    )
    .option('--speed <factor>', 'factor that shortens the load curve and the windows, 1 to 60', '5')
    .option('--port <port>', 'port of the service (default: 8080, or any free port if 8080 is in use)')
    .option('--trace <file>', 'load curve as CSV: t_seconds,value')
    .action(async (options: { duration?: string; speed: string; port?: string; trace?: string }) => {
      const { runDemo } = await import('../demo/demo.js');
      result.exitCode = await runDemo(options, io);
    });
}

interface DoctorFlags extends ClusterOptions {
  readonly namespace?: string;
  readonly config?: string;
  readonly prometheus?: string;
  readonly dryRun?: boolean;
  readonly output: string;
}

function addDoctor(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('doctor')
    .description('Diagnose configuration, Prometheus and cluster problems, and print the fix for each')
    .argument('[scaler]', 'NAMESPACE/NAME, or NAME: check only this scaler')
    .option(...NAMESPACE_OF_SCALER)
    .option('--config <file>', 'service config (default: built-in defaults)')
    .option('--prometheus <url>', 'URL that replaces the urls of the data source default')
    .option('--dry-run', 'the service runs with --dry-run: an HPA on the same target is no conflict')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reachingCluster(command).action(async (scaler: string | undefined, options: DoctorFlags) => {
    const { runDoctor } = await import('../doctor.js');
    result.exitCode = await runDoctor({ scaler, ...options }, io);
  });
}

interface ReachFlags {
  readonly url?: string;
  readonly serviceNamespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly output: string;
}

/** Adds the commands that ask a running service. */
export function addAskingCommands(program: Command, io: CommandIo, result: Result): void {
  const explain = program
    .command('explain')
    .description('Explain the last decision for a scaler: values, pods, arithmetic, limits, holds')
    .argument('[scaler]', 'NAMESPACE/NAME, or NAME')
    .option(...NAMESPACE_OF_SCALER)
    .option('--snapshot <file>', 'explain the decision for a snapshot; - is standard input')
    .option(
      '--at <time>',
      'explain the decision in force at 2026-01-01T10:42:30Z, 10:42:30 (UTC), or 10m (ago)',
    )
    .addOption(outputOption(['text', 'json', 'yaml']));
  reaching(explain).action(
    async (scaler: string | undefined, options: ReachFlags & { snapshot?: string; at?: string }) => {
      const { runExplain } = await import('../explain.js');
      result.exitCode = await runExplain({ scaler, ...options }, io);
    },
  );
  const status = program
    .command('status')
    .description('Print a table of all scalers of a running service')
    .option('-n, --namespace <namespace>', 'only scalers of this namespace')
    .option('-A, --all-namespaces', 'scalers of all namespaces (default)')
    .option('-w, --watch', 'print rows as they change, until interrupted')
    .addOption(outputOption(['text', 'wide', 'json', 'yaml', 'name']));
  reaching(status).action(async (options: ReachFlags & { allNamespaces?: boolean; watch?: boolean }) => {
    const { runStatus } = await import('../status.js');
    result.exitCode = await runStatus(options, io);
  });
}
