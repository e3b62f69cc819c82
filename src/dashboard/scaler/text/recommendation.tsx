import type { VNode } from 'preact';
import type { ScalerDetail } from '../../../api/answers.js';
import { asPlugin } from '../model/commands.js';
import { changeText } from '../../../scaler/field-changes.js';

/** Shows the change that the last back-test recommends. Nothing is shown without one. */
export function Recommendation({ detail }: { readonly detail: ScalerDetail }): VNode {
  const { changes = [], reason } = detail.recommendation ?? {};
  return (
    <p dir="auto">
      <b>Recommended:</b> {changes.map(changeText).join(', ')}. {reason}. Apply it with the command of{' '}
      <code class="word">{asPlugin('promscaler status --recommendations', detail)}</code>.
    </p>
  );
}
