export const SCRAPE_SECONDS = 15;

/** Of the queries of the documents; the window of the Resource query is the same by default. */
export const WINDOW_SECONDS = 120;

export interface ExporterAddress {
  readonly exporterUrl: string;
  readonly exporterPages: number;
}

/** Returns the config of Prometheus, a target for each page. `queryLog`: a file; null: none. */
export function prometheusConfig(
  { exporterUrl, exporterPages }: ExporterAddress,
  queryLog: string | null,
): string {
  const { host } = new URL(exporterUrl);
  const targets = Array.from(
    { length: exporterPages },
    (_, page) =>
      `      - { targets: ['${host}'], labels: { __metrics_path__: /pages/${page}, instance: page-${page} } }\n`,
  );
  const log = queryLog === null ? '' : `, query_log_file: ${queryLog}`;
  return `global: { scrape_interval: ${SCRAPE_SECONDS}s${log} }
scrape_configs:
  - job_name: pods
    honor_labels: true
    static_configs:
${targets.join('')}`;
}
