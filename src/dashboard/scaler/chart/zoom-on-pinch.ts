import { pinchWindow } from '../model/pinch-window.js';
import type { Fingers } from '../model/pinch-window.js';
import type { TimeWindow } from './chart-props.js';

interface Gesture {
  readonly window: TimeWindow;
  readonly start: Fingers;
}

/** Zooms when two fingers move apart; one finger scrolls the page. Returns a function that removes the listeners. */
export function zoomOnPinch(
  element: HTMLElement,
  read: () => TimeWindow,
  onZoom: (window: TimeWindow) => void,
): () => void {
  let gesture: Gesture | null = null;
  const begin = (event: TouchEvent): void => {
    const start = fingersOf(event, element);
    gesture = start === null ? null : { window: read(), start };
  };
  const move = (event: TouchEvent): void => {
    const fingers = fingersOf(event, element);
    if (gesture === null || fingers === null) return;
    event.preventDefault();
    const window = pinchWindow(gesture.window, gesture.start, fingers);
    if (window !== null) onZoom(window);
  };
  const end = (): void => {
    gesture = null;
  };
  const controller = new AbortController();
  const { signal } = controller;
  element.addEventListener('touchstart', begin, { signal, passive: true });
  element.addEventListener('touchmove', move, { signal, passive: false });
  element.addEventListener('touchend', end, { signal });
  element.addEventListener('touchcancel', end, { signal });
  return () => controller.abort();
}

function fingersOf({ touches }: TouchEvent, element: HTMLElement): Fingers | null {
  const [one, other] = touches;
  if (one === undefined || other === undefined || touches.length > 2) return null;
  const { left, width } = element.getBoundingClientRect();
  return width <= 0 ? null : [(one.clientX - left) / width, (other.clientX - left) / width];
}
