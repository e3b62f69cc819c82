import type { FunctionComponent, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ScalerDetail } from '../../../api/answers.js';
import { ApiError } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { snapshotRequest } from '../../data/requests.js';
import { Section } from '../../ui/section.jsx';
import { ErrorView } from '../../ui/states.jsx';
import { Time } from '../../ui/time.jsx';
import type { TimeWindow } from '../chart/chart-props.js';
import type { WhatIfPanelProps } from './what-if-panel.jsx';

interface WhatIfSectionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  /** Time of the decision in RFC 3339; null: the last decision. */
  readonly at: string | null;
  /** The time range of the charts. */
  readonly shown: TimeWindow;
}

type PanelState =
  | { readonly kind: 'closed' | 'loading' }
  | { readonly kind: 'failed'; readonly message: string }
  | {
      readonly kind: 'open';
      readonly Panel: FunctionComponent<WhatIfPanelProps>;
      readonly snapshot: WhatIfPanelProps['snapshot'];
    };

/** Loads the code and the snapshot when the user asks for them. */
export function WhatIfSection({ api, detail, at, shown }: WhatIfSectionProps): VNode {
  const [state, setState] = useState<PanelState>({ kind: 'closed' });
  const open = async (): Promise<void> => {
    setState({ kind: 'loading' });
    try {
      const request = snapshotRequest(detail.namespace, detail.name, at === null ? {} : { at });
      const [{ WhatIfPanel }, snapshot] = await Promise.all([
        import('./what-if-panel.jsx'),
        api.read(request),
      ]);
      setState({ kind: 'open', Panel: WhatIfPanel, snapshot });
    } catch (error) {
      const message =
        error instanceof ApiError ? error.message : 'A part of this page cannot be loaded. Reload the page.';
      setState({ kind: 'failed', message });
    }
  };
  return (
    <Section
      title="What if"
      aside={
        state.kind === 'open' ? (
          <span class="hint">
            on the snapshot of <Time at={state.snapshot.now} />
          </span>
        ) : (
          <button type="button" disabled={state.kind === 'loading'} onClick={() => void open()}>
            Try another document
          </button>
        )
      }
    >
      {state.kind === 'open' ? (
        <state.Panel api={api} snapshot={state.snapshot} detail={detail} shown={shown} />
      ) : (
        <p class="hint">
          Change a field and see the decision that promscaler would have made. Computed in this browser;
          nothing is sent or changed.
        </p>
      )}
      {state.kind === 'failed' ? (
        <ErrorView title="No snapshot" message={state.message} onRetry={() => void open()} />
      ) : null}
    </Section>
  );
}
