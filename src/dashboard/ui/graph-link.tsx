import type { VNode } from 'preact';

interface GraphLinkProps {
  /** URL of the query; undefined or null: there is none. */
  readonly url: string | null | undefined;
  /** The name of the metric, which the text of the link contains. */
  readonly metric?: string;
  /** What the link opens; default: Prometheus. */
  readonly what?: string;
}

/** Shows a link to a query in the UI of Prometheus; nothing if the URL is neither http nor https. */
export function GraphLink({ url, metric, what = 'Prometheus' }: GraphLinkProps): VNode | null {
  if (!/^https?:\/\//.test(url ?? '')) return null;
  return (
    <a class="graph-link" href={url ?? ''} target="_blank" rel="noopener">
      {metric === undefined ? (
        <>
          Open<span class="visually-hidden"> in {what}</span>
        </>
      ) : (
        <span class="visually-hidden">Query of {metric} in Prometheus</span>
      )}
      <span aria-hidden="true"> ↗{'\ufe0e'}</span>
    </a>
  );
}
