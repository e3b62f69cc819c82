/** The environment variables, some of which a platform sets in the pod. */
export type Environment = Readonly<Record<string, string | undefined>>;
