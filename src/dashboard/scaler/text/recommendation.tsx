import type { VNode } from 'preact';
import type { ScalerDetail } from '../../../api/answers.js';

/** Shows the change that the last back-test recommends. Nothing is shown without one. */
export function Recommendation({ detail }: { readonly detail: ScalerDetail }): VNode {
  const { changes = [], reason } = detail.recommendation ?? {};
  const list = changes.map(
    ({ field, current, proposed }) => `${field}: ${current ?? 'unset'} -> ${proposed}`,
  );
  return (
    <p dir="auto">
      <b>Recommended:</b> {list.join(', ')}. {reason}. Apply it with the command of{' '}
      <code>promscaler status --recommendations</code>.
    </p>
  );
}
