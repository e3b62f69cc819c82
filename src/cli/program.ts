import { Command, CommanderError } from 'commander';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import type { NewOptions } from './new/new-options.js';
import { addPauseCommands } from './pause/commands.js';
import { VERSION } from './version.js';

/** Runs one command line (without `node` and the script) and gives its exit code. Never throws for a user's mistake. */
export async function cli(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  const result: { exitCode: ExitCode } = { exitCode: 0 };
  try {
    await buildProgram(io, result).parseAsync([...argv], { from: 'user' });
    return result.exitCode;
  } catch (error) {
    return explainFailure(error, io);
  }
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

function buildProgram(io: CommandIo, result: { exitCode: ExitCode }): Command {
  const program = new Command('promscaler')
    .description('scales Kubernetes workloads by what Prometheus knows of them')
    .version(VERSION)
    .showHelpAfterError('(--help says more)')
    .exitOverride()
    .configureOutput({
      writeOut: (chunk) => io.stdout.write(chunk),
      writeErr: (chunk) => io.stderr.write(chunk),
    });
  addRun(program, io, result);
  addDemo(program, io, result);
  addNew(program, io, result);
  addValidate(program, io, result);
  addShow(program, io, result);
  addDecide(program, io, result);
  addExplain(program, io, result);
  addStatus(program, io, result);
  addPauseCommands(program, { io, result, reaching });
  addDoctor(program, io, result);
  addSchema(program, io, result);
  return program;
}

type Result = { exitCode: ExitCode };

function addRun(program: Command, io: CommandIo, result: Result): void {
  program
    .command('run')
    .description('the service: reads metrics, decides, scales')
    .option('--config <file>', 'the service config; left out, every value has its default')
    .option('--dry-run', 'decide, export and explain, never patch, for all scalers')
    .option('--strict', 'a wrong document at the start ends the service, too')
    .action(async (options: { config?: string; dryRun?: boolean; strict?: boolean }) => {
      const { runService } = await import('./run.js');
      const { config = null, dryRun = false, strict = false } = options;
      result.exitCode = await runService({ configFile: config, dryRun, strict }, io);
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
      const { runDemo } = await import('./demo/demo.js');
      result.exitCode = await runDemo(options, io);
    });
}

function addNew(program: Command, io: CommandIo, result: Result): void {
  program
    .command('new')
    .description('writes the first document of a workload, with comments')
    .argument('<target>', 'the workload: KIND/NAME, or NAME of a Deployment')
    .option('-n, --namespace <namespace>', "of the workload (default: the kubeconfig's, or default)")
    .option('--name <name>', 'what the scaler is called (default: as the workload)')
    .option('--min <replicas>', 'the fewest replicas', '1')
    .option('--max <replicas>', 'the most replicas; must be given')
    .option(
      '--cpu-percent <percent>',
      'of the cpu that the pods request (default: 80, without another metric)',
    )
    .option('--memory-percent <percent>', 'of the memory that the pods request')
    .option(
      '--query <promql>',
      'a metric by a query; with `by (pod)` or $pods one series a pod, else a total',
    )
    .option('--average-value <quantity>', 'what the query is held at for each pod')
    .option('--value <quantity>', 'what the query is held at for all pods together')
    .option('--preset <preset>', 'hpa, chpa or hpa-1.11: which defaults hold')
    .option('--output-file <file>', 'a new file for the document (default: standard output)')
    .option('--offline', 'do not ask the cluster about the workload')
    .action(async (target: string, options: NewOptions) => {
      const { runNew } = await import('./new.js');
      result.exitCode = await runNew(target, options, io);
    });
}

function addValidate(program: Command, io: CommandIo, result: Result): void {
  program
    .command('validate')
    .description('checks service configs and scaler documents; asks no server, unless with --live')
    .argument('<path...>', 'files, or folders of *.yaml and *.yml')
    .option('--config <file>', 'the service config whose data sources and defaults the documents use')
    .option('--live', 'also asks Prometheus and the cluster for these documents, as doctor does')
    .option('--prometheus <url>', 'with --live: asked in place of the urls of the data source default')
    .option('-o, --output <format>', 'text or json', 'text')
    .action(async (paths: string[], options: ValidateFlags) => {
      const { runValidate } = await import('./validate.js');
      result.exitCode = await runValidate({ paths, ...options }, io);
    });
}

interface ValidateFlags {
  readonly config?: string;
  readonly live?: boolean;
  readonly prometheus?: string;
  readonly output: string;
}

function addShow(program: Command, io: CommandIo, result: Result): void {
  program
    .command('show')
    .description('a document in full: every default, and where it came from')
    .argument('<file>', 'a file of scaler documents')
    .option('--config <file>', 'the service config whose defaults hold')
    .option('-o, --output <format>', 'text, yaml or json', 'text')
    .action(async (file: string, options: { config?: string; output: string }) => {
      const { runShow } = await import('./show.js');
      result.exitCode = await runShow({ file, ...options }, io);
    });
}

function addDecide(program: Command, io: CommandIo, result: Result): void {
  program
    .command('decide')
    .description('one decision from a snapshot, as JSON; one a line from a snapshot a line')
    .argument(
      '<file>',
      'a snapshot, as the page /api/v1/scalers/NAMESPACE/NAME/snapshot has it, or several, one a line; - is standard input',
    )
    .action(async (file: string) => {
      const { runDecide } = await import('./decide.js');
      result.exitCode = await runDecide(file, io);
    });
}

interface ReachFlags {
  readonly url?: string;
  readonly serviceNamespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** The options by which a command finds the running service. */
function reaching(command: Command): Command {
  return command
    .option('--url <address>', "of the service; left out, it is found through the API server's service proxy")
    .option(
      '--service-namespace <namespace>',
      'where the Service of promscaler is (default: looked for in all)',
    )
    .option('--kubeconfig <file>', 'how the API server is reached (default: as kubectl finds it)')
    .option('--context <name>', 'of the kubeconfig');
}

function addExplain(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('explain')
    .description('the last decision on a scaler, as text: values, pods, arithmetic, limits, holds')
    .argument('[scaler]', 'NAMESPACE/NAME')
    .option('--snapshot <file>', 'explains the decision on a snapshot instead; - is standard input')
    .option('--at <time>', 'the one in force then: 2026-01-01T10:42:30Z, 10:42:30 (UTC), or 10m (ago)')
    .option('-o, --output <format>', 'text or json', 'text');
  reaching(command).action(
    async (
      scaler: string | undefined,
      options: ReachFlags & { snapshot?: string; at?: string; output: string },
    ) => {
      const { runExplain } = await import('./explain.js');
      result.exitCode = await runExplain({ scaler, ...options }, io);
    },
  );
}

function addStatus(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('status')
    .description('a table of all scalers of a running service')
    .option('-n, --namespace <namespace>', 'of this namespace alone')
    .option('-w, --watch', 'prints the rows that change until it is interrupted')
    .option('-o, --output <format>', 'text or json', 'text');
  reaching(command).action(
    async (options: ReachFlags & { namespace?: string; watch?: boolean; output: string }) => {
      const { runStatus } = await import('./status.js');
      result.exitCode = await runStatus(options, io);
    },
  );
}

function addDoctor(program: Command, io: CommandIo, result: Result): void {
  program
    .command('doctor')
    .description('why it does not work: asks Prometheus and the cluster, names the line that mends it')
    .argument('[scaler]', 'NAMESPACE/NAME: this one alone')
    .option('--config <file>', 'the service config; left out, every value has its default')
    .option('--prometheus <url>', 'asked in place of the urls of the data source default')
    .option('-o, --output <format>', 'text or json', 'text')
    .action(
      async (
        scaler: string | undefined,
        options: { config?: string; prometheus?: string; output: string },
      ) => {
        const { runDoctor } = await import('./doctor.js');
        result.exitCode = await runDoctor({ scaler, ...options }, io);
      },
    );
}

function addSchema(program: Command, io: CommandIo, result: Result): void {
  program
    .command('schema')
    .description('JSON Schema of the scaler document, for editors')
    .option('--service', 'of the service config instead')
    .option('--api', "the OpenAPI document of the service's pages instead")
    .option('--crd', 'the CustomResourceDefinition of the document instead, as YAML')
    .action(async (options: { service?: boolean; api?: boolean; crd?: boolean }) => {
      const { runSchema } = await import('./schema.js');
      result.exitCode = runSchema(options, io);
    });
}
