import { BUILT_IN, PRESETS } from '../../scaler/schema/presets.js';
import { API_VERSION } from '../../scaler/schema/document-schema.js';
import type { TargetRef } from '../../scaler/spec.js';
import type { NewMetric, NewQuery, NewRequest } from './new-options.js';

interface NewDocument extends NewRequest {
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** File to which the document is written; null: standard output. */
  readonly file: string | null;
}

/** Returns a document as YAML with comments. The first lines list the commands for the next steps. */
export function writeDocument(document: NewDocument): string {
  const { namespace, name, target, min, max, preset, metrics } = document;
  const file = nameInComment(document.file);
  const lines = [
    `# Next: "promscaler validate ${file}" validates this document, "promscaler show ${file}" prints every default,`,
    `# "kubectl apply -f ${file}" applies this document (chart value crd.enabled). Without Scaler objects, add the document to the release:`,
    `# "helm upgrade ... --set-file scalers.NAME=${file}".`,
    `apiVersion: ${API_VERSION}`,
    'kind: Scaler',
    'metadata:',
    `  name: ${scalar(name)} # name of the scaler, unique in its namespace`,
    `  namespace: ${scalar(namespace)} # namespace of the scaler and the workload`,
    'spec:',
    ...presetLines(preset),
    '  scaleTargetRef:',
    `    apiVersion: ${scalar(target.apiVersion)} # only the group is used, not the version`,
    `    kind: ${scalar(target.kind)}`,
    `    name: ${scalar(target.name)}`,
    `  minReplicas: ${min}${min === 0 ? ' # the workload scales to zero and back, which needs a query that has a value without pods' : ''}`,
    `  maxReplicas: ${max}`,
    '  metrics: # the metric with the highest recommendation wins',
    ...metrics.flatMap(metricLines),
    ...defaultLines(preset),
  ];
  return `${lines.join('\n')}\n`;
}

/** Replaces a file name that needs quotes in a shell by FILE, because it could also end the comment. */
function nameInComment(file: string | null): string {
  return file !== null && /^[\w./][\w./-]*$/.test(file) ? file : 'FILE';
}

function presetLines(preset: string | null): readonly string[] {
  return preset === null ? [] : [`  preset: ${scalar(preset)} # defaults of the limits`];
}

function metricLines(metric: NewMetric): readonly string[] {
  if (metric.type !== 'Resource') return queryLines(metric);
  const { resource, percent } = metric;
  return [
    '    - type: Resource',
    '      resource:',
    `        name: ${resource}`,
    '        target:',
    '          type: Utilization',
    `          averageUtilization: ${percent} # percent of the requests; each container needs a ${resource} request`,
  ];
}

const MEANINGS = {
  Pods: 'one series per pod, with the label pod; use type External for a total over all pods',
  External: 'the sum of all series; use type Pods for one series per pod',
} as const;

function queryLines({ type, query, name, target }: NewQuery): readonly string[] {
  const { member, quantity } = target;
  const meaning = member === 'value' ? 'for all pods together' : 'per pod';
  return [
    `    - type: ${type} # ${MEANINGS[type]}`,
    `      ${type === 'Pods' ? 'pods' : 'external'}:`,
    ...(name === null ? [] : [`        metric: { name: ${name} } # the query contains no metric name`]),
    ...blockLines('        query:', query),
    '        target:',
    `          type: ${member === 'value' ? 'Value' : 'AverageValue'}`,
    `          ${member}: ${quantityScalar(quantity)} # ${meaning}`,
  ];
}

function defaultLines(preset: string | null): readonly string[] {
  const known = Object.entries(PRESETS).find(([name]) => name === (preset ?? BUILT_IN.preset));
  const values = (known ?? ['', PRESETS.hpa])[1];
  const fields: readonly (readonly [string, string | number, string])[] = [
    ['tolerance', BUILT_IN.tolerance, 'a metric within this fraction of its target changes nothing'],
    [
      'downscaleStabilizationSeconds',
      values.downscaleStabilizationSeconds,
      'scale down to the highest recommendation of this window',
    ],
    [
      'upscaleForbiddenWindowSeconds',
      values.upscaleForbiddenWindowSeconds,
      'minimum time between two scale-ups',
    ],
    [
      'downscaleForbiddenWindowSeconds',
      values.downscaleForbiddenWindowSeconds,
      'minimum time between two scale-downs',
    ],
    ['syncPeriodSeconds', BUILT_IN.syncPeriodSeconds, 'interval between two decisions'],
  ];
  return [
    '  # Built-in values of unset fields, unless defaults in the service config override them:',
    ...fields.map(([field, value, meaning]) => `  # ${field}: ${value} # ${meaning}`),
    ...(values.downscaleStabilizationSeconds > 0 ? [] : [CONFIRMATION]),
    '  # dryRun: true # not a default: decide and report, but patch nothing',
  ];
}

/** For presets without stabilization: without confirmation, a single wrong result would scale down. */
const CONFIRMATION =
  '  # downscaleConfirmation: {} # not a default: scale down only if every decision of 60 s, and at least 3, recommends it';

const PLAIN = /^[A-Za-z][A-Za-z0-9./-]*$/;
/** Words that YAML 1.1 or 1.2 does not read as strings unless they are quoted. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function scalar(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) ? text : JSON.stringify(text);
}

/** Returns a quantity, in quotes if it would lose digits as a YAML number. */
function quantityScalar(text: string): string {
  return /^(?:0|[1-9]\d{0,14})(?:\.\d{1,3})?(?:m|k|[MGTPE]i?|Ki)?$/.test(text) ? text : JSON.stringify(text);
}

/** Returns a block scalar, or a quoted string if the text contains characters that a block scalar cannot represent. */
function blockLines(key: string, text: string): readonly string[] {
  if (!/^[\n\x20-\x7e]+$/.test(text)) return [`${key} ${JSON.stringify(text)}`];
  return [`${key} |-`, ...text.split('\n').map((line) => `          ${line}`.trimEnd())];
}
