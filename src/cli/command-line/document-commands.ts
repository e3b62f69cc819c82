import type { Command } from 'commander';
import type { BacktestOptions } from '../backtest/options.js';
import type { ImportOptions } from '../commands/run-import.js';
import type { TestOptions } from '../commands/run-test.js';
import type { ValidateOptions } from '../commands/run-validate.js';
import type { NewOptions } from '../new/new-options.js';
import type { CommandIo } from '../output/io.js';
import type { SchemaOptions } from '../schema/run-schema.js';
import type { ShowOptions } from '../show/run-show.js';
import { optionOf, outputOption, reachingCluster, type Result } from './options.js';

export function addDocumentCommands(program: Command, io: CommandIo, result: Result): void {
  addNew(program, io, result);
  addImport(program, io, result);
  addValidate(program, io, result);
  addShow(program, io, result);
  addDecide(program, io, result);
  addBacktest(program, io, result);
  addTest(program, io, result);
  addSchema(program, io, result);
}

function addNew(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('new')
    .description('Create a scaler document for a workload')
    .argument('<target>', 'Workload: KIND/NAME, or NAME of a Deployment')
    .option(
      '-n, --namespace <namespace>',
      'Namespace of the workload (default: namespace of the kubeconfig context)',
    )
    .option('--name <name>', 'Name of the scaler (default: the name of the workload)')
    .option('--min <replicas>', 'Minimum number of replicas', '1')
    .option('--max <replicas>', 'Maximum number of replicas (required)')
    .option(
      '--cpu-percent <percent>',
      'Target CPU utilization, in percent of the requests (default: 80 if there is no other metric)',
    )
    .option('--memory-percent <percent>', 'Target memory utilization, in percent of the requests')
    .option(
      '--query <promql>',
      'PromQL query of a metric. A query with `by (pod)` or $pods returns a value per pod, any other query a total',
    )
    .option('--average-value <quantity>', 'Target value of the query per pod')
    .option('--value <quantity>', 'Target value of the query for all pods together')
    .addOption(optionOf('--preset <preset>', 'Preset that sets the defaults', ['hpa', 'chpa', 'hpa-1.11']))
    .option('--output-file <file>', 'New file for the document (default: standard output)')
    .option('--offline', 'Do not read the workload from the cluster');
  reachingCluster(command).action(async (target: string, options: NewOptions) => {
    const { runNew } = await import('../new/run-new.js');
    result.exitCode = await runNew(target, options, io);
  });
}

function addImport(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('import')
    .description('Convert HPAs, KEDA ScaledObjects, CHPAs and WatermarkPodAutoscalers to scaler documents')
    .argument('<path...>', 'Files, directories with *.yaml and *.yml files, or - for standard input')
    .option(
      '-n, --namespace <namespace>',
      'Namespace of objects without a namespace (default: namespace of the kubeconfig context)',
    )
    .option(
      '--adapter-config <file>',
      'Take the queries of Pods, Object and External metrics from this config of prometheus-adapter',
    )
    .option('--dry-run', 'Set dryRun: true in each document, so that its autoscaler continues to scale')
    .option('--strict', 'Print no document for an autoscaler that cannot be converted completely')
    .option(
      '--live',
      'Decide once for each document, and print the difference from the desired replicas of its HPA',
    )
    .option('--config <file>', 'With --live: service config with the data sources')
    .option('--prometheus <url>', 'With --live: replace the URLs of the data source default');
  reachingCluster(command).action(async (paths: string[], options: Omit<ImportOptions, 'paths'>) => {
    const { runImport } = await import('../commands/run-import.js');
    result.exitCode = await runImport({ paths, ...options }, io);
  });
}

function addValidate(program: Command, io: CommandIo, result: Result): void {
  const command = program
    .command('validate')
    .description('Validate scaler documents and the service config')
    .argument('<path...>', 'Files, directories with *.yaml and *.yml files, or - for standard input')
    .option(
      '-n, --namespace <namespace>',
      'Namespace of documents without a namespace, as in kubectl apply -n',
    )
    .option('--config <file>', 'Service config with the data sources and defaults of the documents')
    .option('--live', 'Also query Prometheus and read the cluster for these documents, like doctor')
    .option('--prometheus <url>', 'With --live: replace the URLs of the data source default')
    .addOption(outputOption(['text', 'json', 'yaml']));
  reachingCluster(command).action(async (paths: string[], options: Omit<ValidateOptions, 'paths'>) => {
    const { runValidate } = await import('../commands/run-validate.js');
    result.exitCode = await runValidate({ paths, ...options }, io);
  });
}

function addShow(program: Command, io: CommandIo, result: Result): void {
  program
    .command('show')
    .description('Print every field of a scaler document with its value and the origin of the value')
    .argument('<file>', 'File of scaler documents, or - for standard input')
    .option('--config <file>', 'Service config with the defaults of the documents')
    .addOption(outputOption(['text', 'yaml', 'json']))
    .action(async (file: string, options: Omit<ShowOptions, 'file'>) => {
      const { runShow } = await import('../show/run-show.js');
      result.exitCode = await runShow({ file, ...options }, io);
    });
}

function addDecide(program: Command, io: CommandIo, result: Result): void {
  program
    .command('decide')
    .description('Print the decision for a snapshot as JSON (NDJSON in, NDJSON out)')
    .argument(
      '<file>',
      'File with a snapshot from /api/v1/scalers/NAMESPACE/NAME/snapshot, or with one snapshot per line; - for standard input',
    )
    .action(async (file: string) => {
      const { runDecide } = await import('../commands/run-decide.js');
      result.exitCode = await runDecide(file, io);
    });
}

function addBacktest(program: Command, io: CommandIo, result: Result): void {
  program
    .command('backtest')
    .description('Show how a scaler document would have scaled under a load')
    .option('--scaler <file>', 'File of the scaler document; FILE#NAME if the file has several documents')
    .option(
      '--replay <file>',
      'Repeat the decisions of a decision record and list the differences; - for standard input; repeatable',
      collect,
    )
    .option('--trace <file>', 'Load trace: CSV with the header t_seconds,value; - for standard input')
    .option('--prometheus <url>', 'Read the history of the metrics from this Prometheus; needs --from')
    .option(
      '--from <time>',
      'Start of the history: a time, a local time, or a duration before --to, such as 7d',
    )
    .option(
      '--to <time>',
      'End of the history: a time, a local time, or a duration before now (default: now)',
    )
    .option('--step <duration>', 'Step of the history (default: scrapeIntervalSeconds of the data source)')
    .option('--save-history <file>', 'Write the history to this file, which --history can read')
    .option(
      '--history <file>',
      'Read the history from a file that --save-history has written, without a server',
    )
    .option('--request <cores>', 'CPU request of a pod (default: from kube-state-metrics)')
    .option('--no-cache', 'Read the whole history again, and do not cache it')
    .option(
      '--capacity <load>',
      'Load that one pod carries, in the unit of the trace or metric (default for cpu: CPU limit or request of a pod)',
    )
    .option('--start <time>', 'Time of the first line of the trace (default: 2026-01-05T00:00:00Z)')
    .option('--against <file>', 'Also run this document, HPA or ScaledObject; repeatable', collect)
    .option(
      '--sweep <field=values>',
      'Also run the document with each of these values of a field, such as averageUtilization=50,60; repeatable',
      collect,
    )
    .option(
      '--pod-start <duration>',
      'Time from the creation of a pod until the pod is ready: 120s, or median=60s,p95=180s. Append node=90s,every=4 if every 4 pods need a new node (default: podStart.seconds of the document, else measured in the history, else 30s)',
    )
    .option(
      '--queue <limits>',
      'Queue for load that the ready pods cannot serve at once: unbounded, max=1000 or timeout=30s (default: such load is lost)',
    )
    .option(
      '--metric <name=value>',
      'With --queue: value of a metric as an expression of load, served, lost, depth, wait and ready, such as NAME=load+depth/60; repeatable',
      collect,
    )
    .option(
      '--max-replicas-from <count>',
      'Result of the query of maxReplicasFrom (default: as recorded in the history; none for a load trace)',
    )
    .option(
      '--initial-replicas <count>',
      'Replicas at the start (default: as recorded in the history, or as many as the load needs)',
    )
    .option(
      '--usage-at-capacity <percent>',
      'CPU usage of a pod at its capacity, in percent of its request',
      '100',
    )
    .option(
      '--recommend <condition>',
      'Find cheaper settings that meet the condition, such as theta_U<=1; repeatable',
      collect,
    )
    .option('--price <amount>', 'Price per pod-hour, for the column cost')
    .option('--config <file>', 'Service config with the defaults of the documents')
    .option(
      '--fail-if <condition>',
      'Exit with code 1 if this condition is true, for example theta_U>1; repeatable',
      collect,
    )
    .option('--html <file>', 'Also write the report as an HTML page with charts that works without a network')
    .addOption(outputOption(['text', 'json', 'markdown']))
    .action(async (options: BacktestOptions) => {
      const { runBacktest } = await import('../backtest/run-backtest.js');
      result.exitCode = await runBacktest(options, io);
    });
}

function addTest(program: Command, io: CommandIo, result: Result): void {
  program
    .command('test')
    .description('Run unit tests for scaler documents')
    .argument('<path...>', 'Test files, directories with *.yaml and *.yml files, or - for standard input')
    .option('--config <file>', 'Service config with the defaults of the documents')
    .addOption(outputOption(['text', 'json', 'github', 'junit']))
    .action(async (paths: string[], options: Omit<TestOptions, 'paths'>) => {
      const { runTest } = await import('../commands/run-test.js');
      result.exitCode = await runTest({ paths, ...options }, io);
    });
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

function addSchema(program: Command, io: CommandIo, result: Result): void {
  program
    .command('schema')
    .description('Print the JSON Schema of the scaler document')
    .option('--service', 'Print the JSON Schema of the service config instead')
    .option('--api', 'Print the OpenAPI document of the HTTP API instead')
    .option('--crd', 'Print the CustomResourceDefinition of the scaler document instead, as YAML')
    .action(async (options: SchemaOptions) => {
      const { runSchema } = await import('../schema/run-schema.js');
      result.exitCode = runSchema(options, io);
    });
}
