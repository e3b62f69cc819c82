/**
 * A value, or a promise of it if there is something to wait for. Of 10,000 cycles a round nearly none has to wait, and
 * each promise would only be garbage.
 */
export type Awaitable<T> = T | Promise<T>;
