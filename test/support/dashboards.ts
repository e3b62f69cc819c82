import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The dashboards of the chart. The tests run in the root of the repository. */
export const DASHBOARDS = resolve('charts/promscaler/dashboards');

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly datasource: unknown;
  readonly legendFormat: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: unknown;
  readonly targets?: readonly Target[];
}

/** Marks times in every panel. */
export interface Annotation {
  readonly name: string;
  readonly datasource: unknown;
  readonly expr: string;
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  /** `label_values(SELECTOR, LABEL)` of a query. */
  readonly definition?: string;
}

export interface Dashboard {
  readonly file: string;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly annotations: { readonly list: readonly Annotation[] };
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

export function readDashboards(): readonly Dashboard[] {
  return readdirSync(DASHBOARDS).map((file) => ({
    file,
    ...(JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8')) as Omit<Dashboard, 'file'>),
  }));
}

/** Returns a query as Grafana sends it. `variables` are those of the dashboard. */
export function substitute(expr: string, variables: Readonly<Record<string, string>>): string {
  return expr.replaceAll(/\$(\w+)/g, (whole, name: string) => variables[name] ?? whole);
}
