/** How the Dockerfile starts Node.js, apart from NODE_ENV. */
export const IMAGE_FLAGS: readonly string[] = ['--disable-proto=delete', '--min-semi-space-size=8'];

export const IMAGE_ENV: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
