import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';
import { parametersOf, replaceParameters, useHash } from '../ui/use-hash.js';
import { readSelection, writeSelection } from './selection.js';
import type { Selection } from './selection.js';

/** Browsers limit how often an address changes, and keys may be pressed more often. */
const WRITE_MS = 300;

/** Returns the selection in the address, and a function that changes both. */
export function useSelection(clock: Clock): readonly [Selection, (change: Partial<Selection>) => void] {
  const hash = useHash();
  const [selection, setSelection] = useState(() => readSelection(parametersOf(hash)));
  const written = useRef(writeSelection(selection).toString());
  const cancel = useRef((): void => undefined);

  useEffect(() => {
    const next = readSelection(parametersOf(hash));
    const text = writeSelection(next).toString();
    // The address was changed by another link or by Back. A later write of this page does not undo it.
    if (text === written.current) return;
    written.current = text;
    cancel.current();
    setSelection(next);
  }, [hash]);
  useEffect(() => () => cancel.current(), []);

  const change = useCallback(
    (part: Partial<Selection>) => {
      setSelection((before) => {
        const next = { ...before, ...part };
        cancel.current();
        cancel.current = clock.after(WRITE_MS, () => {
          const parameters = writeSelection(next);
          written.current = parameters.toString();
          replaceParameters(parameters);
        });
        return next;
      });
    },
    [clock],
  );
  return [selection, change];
}
