import type { Command } from 'commander';

type Example = readonly [purpose: string, command: string];

/** Two examples for each command: a typical command line, and a command line with another useful option. */
const EXAMPLES: Readonly<Record<string, readonly [Example, Example]>> = {
  run: [
    ['Run with a service config', 'promscaler run --config promscaler.yaml'],
    ['Decide for the cluster of the kubeconfig context, but patch nothing', 'promscaler run --dry-run'],
  ],
  demo: [
    ['Run until Ctrl-C', 'promscaler demo'],
    ['Run the demo for five minutes, with your own load', 'promscaler demo --duration 300 --trace load.csv'],
  ],
  doctor: [
    ['Check the data sources, the cluster and all scalers', 'promscaler doctor'],
    ['Check one scaler', 'promscaler doctor shop/web --config promscaler.yaml'],
  ],
  new: [
    ['Scale a Deployment by its CPU usage', 'promscaler new web -n shop --max 10'],
    [
      'Scale a Deployment by a query, with a target of 50 per pod',
      `promscaler new web -n shop --max 10 --average-value 50 --query 'sum(rate(http_requests_total{namespace="$namespace"}[2m]))'`,
    ],
  ],
  import: [
    ['Convert the HPAs of a namespace', 'kubectl get hpa -n shop -o yaml | promscaler import -'],
    [
      'Compare each document with its HPA in the cluster',
      'promscaler import hpa.yaml --live --config promscaler.yaml',
    ],
  ],
  validate: [
    ['Check a directory of documents', 'promscaler validate scalers/'],
    [
      'Also run the queries of the documents',
      'promscaler validate web.yaml --live --prometheus http://localhost:9090',
    ],
  ],
  show: [
    ['Print all fields with their defaults', 'promscaler show web.yaml'],
    [
      'Print the document with all defaults as YAML',
      'promscaler show web.yaml --config promscaler.yaml -o yaml',
    ],
  ],
  decide: [
    ['Decide on a snapshot', 'promscaler decide snapshot.json'],
    ['Decide on several snapshots, one per line', 'cat snapshots.ndjson | promscaler decide -'],
  ],
  backtest: [
    [
      'Compare a document with an HPA for a load in a CSV file',
      `promscaler backtest --scaler web.yaml --trace load.csv --capacity 60 --against hpa.yaml`,
    ],
    [
      'Find cheaper settings for the last week',
      `promscaler backtest --scaler web.yaml --prometheus http://localhost:9090 --from 7d --capacity 60 --recommend 'theta_U<=1'`,
    ],
  ],
  test: [
    ['Run the tests of a directory', 'promscaler test tests/'],
    ['Write the results for a CI system', 'promscaler test tests/ -o junit > results.xml'],
  ],
  schema: [
    ['Write the schema for an editor', 'promscaler schema > scaler.schema.json'],
    ['Install the CustomResourceDefinition', 'promscaler schema --crd | kubectl apply -f -'],
  ],
  explain: [
    ['Explain the last decision', 'promscaler explain shop/web'],
    ['Explain the decision of ten minutes ago', 'promscaler explain web -n shop --at 10m'],
  ],
  status: [
    ['List all scalers, with targets and last changes', 'promscaler status -o wide'],
    ['Follow one scaler', 'promscaler status web -n shop --watch'],
  ],
  dashboard: [
    ['Open the dashboard in the browser', 'promscaler dashboard'],
    ['Print its address', 'promscaler dashboard --no-open --service-namespace monitoring'],
  ],
  pause: [
    ['Pause a scaler for two hours', "promscaler pause shop/web --for 2h --reason 'load test'"],
    ['Keep five replicas until the scaler is resumed', 'promscaler pause web -n shop --replicas 5'],
  ],
  resume: [
    ['Resume scaling', 'promscaler resume shop/web'],
    ['Resume without a connection to the service', 'promscaler resume shop/web --target deployment/web'],
  ],
  adopt: [
    ['Create the scaler of an HPA, in dry run', 'promscaler adopt hpa/web -n shop'],
    ['Print what --switch would do', 'promscaler adopt hpa/web -n shop --switch --preview'],
  ],
  version: [
    ['Print the version', 'promscaler version'],
    ['Print the version for a script', 'promscaler version -o json'],
  ],
  completion: [
    ['Load the completion in bash or zsh', 'source <(promscaler completion bash)'],
    ['Load the completion in fish', 'promscaler completion fish | source'],
  ],
};

export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const lines = (EXAMPLES[command.name()] ?? []).flatMap(([purpose, line]) => [
      '',
      `  # ${purpose}`,
      `  ${line}`,
    ]);
    command.addHelpText('after', ['', 'Examples:', ...lines.slice(1)].join('\n'));
  }
}
