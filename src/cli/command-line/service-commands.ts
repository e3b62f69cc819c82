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
    .description('the service: reads metrics, decides, scales')
    .option('--config <file>', 'the service config; left out, every value has its default')
    .option('--dry-run', 'decide, export and explain, never patch, for all scalers')
    .option('--strict', 'a wrong document at the start ends the service, too');
  reachingCluster(command).action(async (options: RunFlags) => {
    const { runService } = await import('../run.js');
    const { config = null, dryRun = false, strict = false, ...cluster } = options;
    result.exitCode = await runService({ configFile: config, dryRun, strict, cluster }, io);
  });
}

function addDemo(program: Command, io: CommandIo, result: Result): void {
  program
    .command('demo')
    .description('the service on an embedded cluster and a real Prometheus that it starts itself')
    .option('--duration <seconds>', 'how long it runs (default: until Ctrl-C on a terminal, else 120)')
    .option('--speed <factor>', 'shortens the load curve and the windows, 1 to 60', '5')
    .option('--port <port>', 'of the service (default: 8080, or any free one where that is taken)')
    .option('--trace <file>', 'a load curve as CSV: t_seconds,value')
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
    .description('why it does not work: asks Prometheus and the cluster, names the line that mends it')
    .argument('[scaler]', 'NAMESPACE/NAME, or NAME: this one alone')
    .option(...NAMESPACE_OF_SCALER)
    .option('--config <file>', 'the service config; left out, every value has its default')
    .option('--prometheus <url>', 'asked in place of the urls of the data source default')
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
    .description('the last decision on a scaler, as text: values, pods, arithmetic, limits, holds')
    .argument('[scaler]', 'NAMESPACE/NAME, or NAME')
    .option(...NAMESPACE_OF_SCALER)
    .option('--snapshot <file>', 'explains the decision on a snapshot instead; - is standard input')
    .option('--at <time>', 'the one in force then: 2026-01-01T10:42:30Z, 10:42:30 (UTC), or 10m (ago)')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reaching(explain).action(
    async (scaler: string | undefined, options: ReachFlags & { snapshot?: string; at?: string }) => {
      const { runExplain } = await import('../explain.js');
      result.exitCode = await runExplain({ scaler, ...options }, io);
    },
  );
  const status = program
    .command('status')
    .description('a table of all scalers of a running service')
    .option('-n, --namespace <namespace>', 'of this namespace alone')
    .option('-A, --all-namespaces', 'of all namespaces, which is the default')
    .option('-w, --watch', 'prints the rows that change until it is interrupted')
    .addOption(outputOption(['text', 'wide', 'json', 'yaml', 'name']));
  reaching(status).action(async (options: ReachFlags & { allNamespaces?: boolean; watch?: boolean }) => {
    const { runStatus } = await import('../status.js');
    result.exitCode = await runStatus(options, io);
  });
}
