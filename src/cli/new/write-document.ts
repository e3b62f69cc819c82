import { BUILT_IN, PRESETS } from '../../scaler/schema/presets.js';
import { API_VERSION } from '../../scaler/schema/document-schema.js';
import type { TargetRef } from '../../scaler/spec.js';
import type { NewMetric, NewQuery, NewRequest } from './new-options.js';

/** All that a first document says. */
export interface NewDocument extends NewRequest {
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** Where it is written to; null where that is not known. */
  readonly file: string | null;
}

/** The text of a first document: YAML, with a comment where a line is not plain, and the next commands on top. */
export function writeDocument(document: NewDocument): string {
  const { namespace, name, target, min, max, preset, metrics } = document;
  const file = nameInComment(document.file);
  const lines = [
    `# Next: "promscaler validate ${file}" checks it, "promscaler show ${file}" prints every default. The chart`,
    `# takes it by --set-file scalers.NAME=${file}; without helm it goes into the folder that scalers.paths names.`,
    `apiVersion: ${API_VERSION}`,
    'kind: Scaler',
    'metadata:',
    `  name: ${scalar(name)} # of the scaler, unique in its namespace`,
    `  namespace: ${scalar(namespace)} # of the workload, too`,
    'spec:',
    ...presetLines(preset),
    '  scaleTargetRef:',
    `    apiVersion: ${scalar(target.apiVersion)} # the group counts, not the version`,
    `    kind: ${scalar(target.kind)}`,
    `    name: ${scalar(target.name)}`,
    `  minReplicas: ${min}${min === 0 ? ' # to zero and back, by a query that has a value without pods' : ''}`,
    `  maxReplicas: ${max}`,
    '  metrics: # of several, the one that asks for the most replicas wins',
    ...metrics.flatMap(metricLines),
    ...defaultLines(preset),
  ];
  return `${lines.join('\n')}\n`;
}

/** A name that a shell takes as it stands; any other could not be pasted, or would end the comment. */
function nameInComment(file: string | null): string {
  return file !== null && /^[\w./][\w./-]*$/.test(file) ? file : 'FILE';
}

function presetLines(preset: string | null): readonly string[] {
  return preset === null ? [] : [`  preset: ${scalar(preset)} # settles the defaults of the limits`];
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
    `          averageUtilization: ${percent} # percent of what the pods request: each container needs a ${resource} request`,
  ];
}

const MEANINGS = {
  Pods: 'one series for each pod, label pod; a total over all pods would be type External',
  External: 'all series of the answer are added up; one series for each pod would be type Pods',
} as const;

function queryLines({ type, query, name, target }: NewQuery): readonly string[] {
  const { member, quantity } = target;
  const meaning = member === 'value' ? 'for all pods together' : 'for each pod';
  return [
    `    - type: ${type} # ${MEANINGS[type]}`,
    `      ${type === 'Pods' ? 'pods' : 'external'}:`,
    ...(name === null ? [] : [`        metric: { name: ${name} } # the query names none`]),
    ...blockLines('        query:', query),
    '        target:',
    `          type: ${member === 'value' ? 'Value' : 'AverageValue'}`,
    `          ${member}: ${quantityScalar(quantity)} # ${meaning}`,
  ];
}

/** What a user of a first document looks for next, at its default, to be uncommented. */
function defaultLines(preset: string | null): readonly string[] {
  const known = Object.entries(PRESETS).find(([name]) => name === (preset ?? BUILT_IN.preset));
  const values = (known ?? ['', PRESETS.hpa])[1];
  const fields: readonly (readonly [string, string | number, string])[] = [
    ['tolerance', BUILT_IN.tolerance, 'nothing changes while a metric is within this share of its target'],
    [
      'downscaleStabilizationSeconds',
      values.downscaleStabilizationSeconds,
      'a scale-down goes to the highest count asked for in that time',
    ],
    [
      'upscaleForbiddenWindowSeconds',
      values.upscaleForbiddenWindowSeconds,
      'no scale-up for so long after the last',
    ],
    [
      'downscaleForbiddenWindowSeconds',
      values.downscaleForbiddenWindowSeconds,
      'no scale-down for so long after the last',
    ],
    ['syncPeriodSeconds', BUILT_IN.syncPeriodSeconds, 'from one decision to the next'],
  ];
  return [
    '  # Left out, so at these defaults, unless the service config has others:',
    ...fields.map(([field, value, meaning]) => `  # ${field}: ${value} # ${meaning}`),
    ...(values.downscaleStabilizationSeconds > 0 ? [] : [CONFIRMATION]),
    '  # dryRun: true # not a default: decides and explains, but changes nothing',
  ];
}

/** What a document needs whose preset stabilizes nothing: one wrong answer would scale it down. */
const CONFIRMATION =
  '  # downscaleConfirmation: {} # not a default: scales down only where every decision of 60 s, and 3 at least, asks for it';

const PLAIN = /^[A-Za-z][A-Za-z0-9./-]*$/;
/** What a reader of YAML 1.1 or 1.2 may take for something else than a text. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function scalar(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) ? text : JSON.stringify(text);
}

/** Plain where YAML reads just what was written; a longer number would lose digits. */
function quantityScalar(text: string): string {
  return /^(?:0|[1-9]\d{0,14})(?:\.\d{1,3})?(?:m|k|[MGTPE]i?|Ki)?$/.test(text) ? text : JSON.stringify(text);
}

/** As a block where the text stands in it as it is. */
function blockLines(key: string, text: string): readonly string[] {
  if (!/^[\n\x20-\x7e]+$/.test(text)) return [`${key} ${JSON.stringify(text)}`];
  return [`${key} |-`, ...text.split('\n').map((line) => `          ${line}`.trimEnd())];
}
