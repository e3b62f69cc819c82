import type { VNode } from 'preact';
import { EmptyView } from '../ui/states.jsx';

const FIRST_COMMANDS = `kubectl get hpa -A -o yaml | promscaler import - > scalers.yaml
promscaler new deployment/web --max 10 > web.yaml`;

/** Shows the commands that end an empty list. */
export function NoScalers(): VNode {
  return (
    <EmptyView title="No scalers yet">
      <p>Convert the HPAs of the cluster, or write a document for one workload:</p>
      <pre class="commands" tabIndex={0} role="region" aria-label="Commands">
        {FIRST_COMMANDS}
      </pre>
      <p>
        Put the document into the directory that promscaler reads, or create a Scaler object: the scaler
        appears here within seconds.
      </p>
    </EmptyView>
  );
}
