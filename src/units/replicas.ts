/** The maximum replica count in Kubernetes, which is that of an int32. */
export const MAX_REPLICAS = 2_147_483_647;
