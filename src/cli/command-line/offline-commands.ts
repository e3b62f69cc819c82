import { Argument, type Command } from 'commander';
import type { CommandIo } from '../io.js';
import type { NewOptions } from '../new/new-options.js';
import type { ClusterOptions } from '../reach/cluster-options.js';
import { optionOf, outputOption, reachingCluster } from './options.js';
import type { Result } from './result.js';

/** Adds the commands that work on files; `new` and `validate --live` ask a cluster as well. */
export function addOfflineCommands(program: Command, io: CommandIo, result: Result): void {
  addNew(program, io, result);
  addValidate(program, io, result);
  addShow(program, io, result);
  addDecide(program, io, result);
  addSchema(program, io, result);
}

function addNew(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('new')
    .description('Write the first scaler document of a workload, with comments')
    .argument('<target>', 'workload: KIND/NAME, or the NAME of a Deployment')
    .option(
      '-n, --namespace <namespace>',
      'namespace of the workload (default: of the kubeconfig context, or default)',
    )
    .option('--name <name>', 'name of the scaler (default: name of the workload)')
    .option('--min <replicas>', 'minimum number of replicas', '1')
    .option('--max <replicas>', 'maximum number of replicas (required)')
    .option(
      '--cpu-percent <percent>',
      'CPU target, in percent of the requests (default: 80, without another metric)',
    )
    .option('--memory-percent <percent>', 'memory target, in percent of the requests')
    .option(
      '--query <promql>',
      'PromQL query; with `by (pod)` or $pods one series per pod, otherwise a total',
    )
    .option('--average-value <quantity>', 'target of the query for each pod')
    .option('--value <quantity>', 'target of the query for all pods together')
    .addOption(optionOf('--preset <preset>', 'set of defaults', ['hpa', 'chpa', 'hpa-1.11']))
    .option('--output-file <file>', 'new file for the document (default: standard output)')
    .option('--offline', 'do not read the workload from the cluster');
  reachingCluster(command).action(async (target: string, options: NewOptions) => {
    const { runNew } = await import('../new.js');
    result.exitCode = await runNew(target, options, io);
  });
}

interface ValidateFlags extends ClusterOptions {
  readonly config?: string;
  readonly live?: boolean;
  readonly prometheus?: string;
  readonly output: string;
}

function addValidate(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('validate')
    .description('Validate scaler documents and the service config')
    .argument('<path...>', 'files, or directories of *.yaml and *.yml files')
    .option('--config <file>', 'service config with the data sources and defaults of the documents')
    .option('--live', 'also query Prometheus and read the cluster, as doctor does')
    .option('--prometheus <url>', 'with --live: URL that replaces the urls of the data source default')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reachingCluster(command).action(async (paths: string[], options: ValidateFlags) => {
    const { runValidate } = await import('../validate.js');
    result.exitCode = await runValidate({ paths, ...options }, io);
  });
}

function addShow(program: Command, io: CommandIo, result: Result): void {
  program
    .command('show')
    .description('Print scaler documents with every default and its source')
    .argument('<file>', 'file with scaler documents')
    .option('--config <file>', 'service config with the defaults of the documents')
    .addOption(outputOption(['text', 'yaml', 'json']))
    .action(async (file: string, options: { config?: string; output: string }) => {
      const { runShow } = await import('../show.js');
      result.exitCode = await runShow({ file, ...options }, io);
    });
}

function addDecide(program: Command, io: CommandIo, result: Result): void {
  program
    .command('decide')
    .description('Print the decision for a snapshot as JSON (NDJSON in, NDJSON out)')
    .argument(
      '<file>',
      'snapshot from /api/v1/scalers/NAMESPACE/NAME/snapshot, or one snapshot per line; - is standard input',
    )
    .action(async (file: string) => {
      const { runDecide } = await import('../decide.js');
      result.exitCode = await runDecide(file, io);
    });
}

function addSchema(program: Command, io: CommandIo, result: Result): void {
  program
    .command('schema')
    .description('Print the JSON Schema of the scaler document')
    .option('--service', 'print the JSON Schema of the service config')
    .option('--api', 'print the OpenAPI document of the HTTP API')
    .option('--crd', 'print the CustomResourceDefinition of the scaler document as YAML')
    .action(async (options: { service?: boolean; api?: boolean; crd?: boolean }) => {
      const { runSchema } = await import('../schema.js');
      result.exitCode = runSchema(options, io);
    });
}

/** Adds the commands about this command itself. */
export function addOwnCommands(program: Command, io: CommandIo, result: Result): void {
  program
    .command('version')
    .description('Print the version of this command')
    .addOption(outputOption(['text', 'json', 'yaml']))
    .action(async (options: { output: string }) => {
      const { runVersion } = await import('../version-command.js');
      result.exitCode = runVersion(options, io);
    });
  const shell = new Argument('<shell>', 'shell that runs the script');
  shell.argChoices = ['bash', 'zsh', 'fish'];
  program
    .command('completion')
    .description('Print a script that completes commands and options')
    .addArgument(shell)
    .addHelpText(
      'after',
      '\nFor this shell: source <(promscaler completion bash); fish: promscaler completion fish | source',
    )
    .action(async (name: string) => {
      const { runCompletion } = await import('../completion.js');
      result.exitCode = runCompletion(name, program, io);
    });
}
