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
    .addOption(optionOf('--preset <preset>', 'which defaults hold', ['hpa', 'chpa', 'hpa-1.11']))
    .option('--output-file <file>', 'a new file for the document (default: standard output)')
    .option('--offline', 'do not ask the cluster about the workload');
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
    .description('checks service configs and scaler documents; asks no server, unless with --live')
    .argument('<path...>', 'files, or folders of *.yaml and *.yml')
    .option('--config <file>', 'the service config whose data sources and defaults the documents use')
    .option('--live', 'also asks Prometheus and the cluster for these documents, as doctor does')
    .option('--prometheus <url>', 'with --live: asked in place of the urls of the data source default')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reachingCluster(command).action(async (paths: string[], options: ValidateFlags) => {
    const { runValidate } = await import('../validate.js');
    result.exitCode = await runValidate({ paths, ...options }, io);
  });
}

function addShow(program: Command, io: CommandIo, result: Result): void {
  program
    .command('show')
    .description('a document in full: every default, and where it came from')
    .argument('<file>', 'a file of scaler documents')
    .option('--config <file>', 'the service config whose defaults hold')
    .addOption(outputOption(['text', 'yaml', 'json']))
    .action(async (file: string, options: { config?: string; output: string }) => {
      const { runShow } = await import('../show.js');
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
      const { runDecide } = await import('../decide.js');
      result.exitCode = await runDecide(file, io);
    });
}

function addSchema(program: Command, io: CommandIo, result: Result): void {
  program
    .command('schema')
    .description('JSON Schema of the scaler document, for editors')
    .option('--service', 'of the service config instead')
    .option('--api', "the OpenAPI document of the service's pages instead")
    .option('--crd', 'the CustomResourceDefinition of the document instead, as YAML')
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
  const shell = new Argument('<shell>', 'the shell that reads it');
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
