import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../../data/api.js';
import { snapshotRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { PartMissing, Waiting } from '../../ui/states.jsx';
import { usePart } from '../../ui/use-part.js';

interface ArithmeticProps {
  readonly api: Api;
  readonly scaler: { readonly namespace: string; readonly name: string };
  /** Time of the decision in RFC 3339; null: the last decision. */
  readonly at: string | null;
  /** Time of the last decision. When it changes, the snapshot is loaded again. */
  readonly decidedAt: string;
}

/** Shows how each proposal was computed. The code and the snapshot are loaded when the section is opened. */
export function ArithmeticSection(props: ArithmeticProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="arithmetic" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>How each count was computed</summary>
      {isOpen ? <Arithmetic {...props} /> : null}
    </details>
  );
}

function Arithmetic({ api, scaler, at, decidedAt }: ArithmeticProps): VNode {
  const request = snapshotRequest(scaler.namespace, scaler.name, at === null ? {} : { at });
  const { value, error, refresh } = useAnswer(api, request);
  const { part, hasFailed } = usePart(loadList, true);
  useEffect(refresh, [refresh, decidedAt]);
  if (hasFailed) return <PartMissing />;
  if (value === null || part === null)
    return <Waiting error={value === null ? error : null} onRetry={refresh} />;
  return <part.ArithmeticList snapshot={value} />;
}

const loadList = () => import('./arithmetic-list.jsx');
